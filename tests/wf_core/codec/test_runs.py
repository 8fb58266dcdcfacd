"""The stored form of a run: what is written is read again, exactly, and nothing else is."""

from typing import Any

import pytest

from tests.wf_core.codec.damage import GOLDEN, damaged
from wf_core.codec import dump_run, load_run
from wf_core.errors import FormatTooNew, StateCorrupt


def test_a_run_is_read_as_it_was_written() -> None:
    stored = GOLDEN.read_bytes()
    assert dump_run(load_run(stored)) == stored


def refused(data: bytes) -> None:
    with pytest.raises(StateCorrupt):
        load_run(data)


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b"null", b"\xff", b"\xef\xbb\xbf{}", b"{}{}", GOLDEN.read_bytes()[:-1]]
)
def test_bytes_that_are_no_stored_run_are_refused(data: bytes) -> None:
    refused(data)


def test_another_format_is_refused() -> None:
    refused(damaged(("format",), lambda _: "wf.record"))


def test_a_newer_version_is_refused_as_such() -> None:
    with pytest.raises(FormatTooNew):
        load_run(damaged(("version",), lambda newest: newest + 1))


@pytest.mark.parametrize("place", [("calls",), ("frames",), ("frames", 0), ("frames", 0, "activity"), ("calls", 0)])
@pytest.mark.parametrize("wrong", [None, 1, [1], {}, {"call": 1}], ids=str)
def test_an_older_version_that_is_damaged_is_refused_as_such(place: tuple[str | int, ...], wrong: Any) -> None:
    refused(damaged(("body", *place), lambda _: wrong, GOLDEN.with_name("run_v1.json")))
