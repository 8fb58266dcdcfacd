"""Equal values, and only those, have the same digest."""

from typing import Any

import pytest

from wf_artifacts.storage.digests import bytes_digest, json_digest, principal_digest
from wf_core.errors import NotJson


def test_key_order_and_the_spelling_of_numbers_do_not_matter() -> None:
    assert json_digest({"a": 1, "b": [2.0]}) == json_digest({"b": [2], "a": 1.0})


def test_different_values_differ() -> None:
    values: list[Any] = [None, 0, False, "", [], {}, [[]], "0", {"a": None}, 2**70, 2**70 + 1]
    assert len({json_digest(value) for value in values}) == len(values)


def test_a_digest_names_its_algorithm() -> None:
    assert bytes_digest(b"") == "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_text_that_is_no_json_has_no_digest() -> None:
    with pytest.raises(NotJson):
        json_digest("\ud800")


def test_a_principal_is_looked_up_by_a_digest_of_its_own_and_everybody_by_none() -> None:
    assert principal_digest(None) is None
    digests = list(map(principal_digest, ("", "a", "\x00", "A")))
    assert len(set(digests)) == 4
    assert all(digest is not None and len(digest) == 32 for digest in digests)


def test_rows_that_are_stored_are_found_by_the_digest_of_a_principal() -> None:
    digest = principal_digest("local")
    assert digest is not None
    assert digest.hex() == "ea17e25c6c7aa6ef9407f976a670e87e37bc7e2a86b7bd4a3305bb16f1ba6052"
