"""Stored documents are strict JSON with a format and a version (DESIGN: what must always hold, 5)."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.documents import plain
from wf_core.codec import envelope
from wf_core.errors import FormatTooNew, NotJson, StateCorrupt

BODIES: list[dict[str, Any]] = [
    {"a": 1},
    {"text": 'a","crc32":5}}'},
    {"inner": {"crc32": 2}},
    {"é": "\U0001f600", "of": {"deep": [{}, {"x": None}]}},
]


def load(data: bytes, supported: int = 1, no_checksum: int = 0) -> dict[str, Any]:
    return envelope.load(data, format="wf.thing", supported=supported, plain=no_checksum)


def test_a_body_comes_back_as_it_was() -> None:
    body = {"b": 2**80, "a": [None, "\u0000", 0.1]}
    data = envelope.dump("wf.thing", 1, body)
    assert data.startswith(b'{"format":"wf.thing","version":1,"body":{"b":')
    assert load(data) == body


@pytest.mark.parametrize("body", BODIES)
def test_the_checksum_is_no_part_of_what_is_read(body: dict[str, Any]) -> None:
    assert load(envelope.dump("wf.thing", 1, body)) == body


@given(body=st.sampled_from(BODIES), place=st.floats(0, 1, exclude_max=True), byte=st.integers(1, 255))
def test_any_changed_byte_is_refused(body: dict[str, Any], place: float, byte: int) -> None:
    """A version that became a higher one is left to the program that knows it."""
    data = bytearray(envelope.dump("wf.thing", 2, body))
    data[int(place * len(data))] ^= byte
    with pytest.raises((StateCorrupt, FormatTooNew)):
        load(bytes(data), supported=2, no_checksum=1)


@pytest.mark.parametrize("body", BODIES)
def test_every_letter_and_digit_counts(body: dict[str, Any]) -> None:
    """Also where what is read would be the same, as with a space between two members."""
    data = envelope.dump("wf.thing", 2, body)
    changed = [data[:place] + b" " + data[place:] for place in range(len(data) + 1)]
    changed += [data[:place] + b"0" + data[place + 1 :] for place in range(len(data)) if data[place] != ord("0")]
    for one in changed:
        with pytest.raises(StateCorrupt):
            load(one, supported=2, no_checksum=1)


def test_a_removed_checksum_is_noticed() -> None:
    data = envelope.dump("wf.thing", 2, {"a": 1})
    with pytest.raises(StateCorrupt, match="its checksum is missing"):
        load(plain(data, 2), supported=2, no_checksum=1)


def test_a_document_from_before_there_were_checksums_is_read() -> None:
    """Nothing else changed from that version to the next."""
    data = envelope.dump("wf.thing", 2, {"a": 1})
    assert load(plain(data, 1), supported=2, no_checksum=1) == {"a": 1}


def test_a_document_with_a_checksum_that_claims_to_be_from_before_is_refused() -> None:
    data = envelope.dump("wf.thing", 2, {"a": 1})
    with pytest.raises(StateCorrupt, match="it is not what was written"):
        load(data.replace(b'"version":2', b'"version":1'), supported=2, no_checksum=1)


def test_programs_that_know_no_checksum_see_a_newer_version() -> None:
    """They take a wrapping with anything else in it for a damaged one, and say of a body only that it is too new."""
    document = json.loads(envelope.dump("wf.thing", 2, {"a": 1}))
    assert [*document] == ["format", "version", "body"]
    assert [*document["body"]] == ["a", "crc32"]


@pytest.mark.parametrize("body", [{}, {"a": 1, "crc32": 2}])
def test_a_body_has_a_place_for_the_checksum(body: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="has a member"):
        envelope.dump("wf.thing", 1, body)


def test_what_is_no_json_is_not_written() -> None:
    with pytest.raises(NotJson, match="NaN"):
        envelope.dump("wf.thing", 1, {"x": float("nan")})


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "it is empty"),
        (b'{"format":"wf.thing","version":1,"body":{', "no JSON"),
        (b'\xef\xbb\xbf{"format":"wf.thing","version":1,"body":{}}', "no JSON"),
        (b'{"format":"wf.thing","version":1,"body":{}}' * 2, "no JSON"),
        (b'{"format":"wf.thing","version":1,"body":{"x":NaN}}', "NaN"),
        (b'{"format":"wf.thing","version":1,"body":{"x":"\\ud800"}}', "surrogate"),
        (b"\xff\xfe", "UTF-8"),
        (b"[]", "no object of format, version and body"),
        (b"null", "no object of format, version and body"),
        (b'{"format":"wf.thing","version":1}', "no object of format, version and body"),
        (b'{"format":"wf.thing","version":1,"body":[]}', "no object of format, version and body"),
        (b'{"format":"wf.thing","version":1,"body":{},"more":1}', "no object of format, version and body"),
        (b'{"format":"wf.thing","version":"1","body":{}}', "no object of format, version and body"),
        (b'{"format":"wf.thing","version":true,"body":{}}', "no number from 1 up"),
        (b'{"format":"wf.thing","version":0,"body":{}}', "no number from 1 up"),
        (b'{"format":"wf.other","version":1,"body":{}}', "a wf.other document"),
    ],
)
def test_damage_is_refused_with_its_reason(data: bytes, reason: str) -> None:
    with pytest.raises(StateCorrupt, match=reason):
        load(data)


def test_a_newer_version_is_refused_as_such() -> None:
    with pytest.raises(FormatTooNew) as refused:
        load(envelope.dump("wf.thing", 4, {"a": 1}), supported=3)
    assert (refused.value.found, refused.value.supported) == (4, 3)


def test_an_older_version_is_brought_up_one_step_at_a_time() -> None:
    upgrades: dict[int, envelope.Upgrade] = {
        1: lambda body: {"name": body["title"]},
        2: lambda body: {**body, "tags": []},
    }
    old = envelope.dump("wf.thing", 1, {"title": "x"})
    assert envelope.load(old, format="wf.thing", supported=3, upgrades=upgrades) == {"name": "x", "tags": []}
    middle = envelope.dump("wf.thing", 2, {"name": "y"})
    assert envelope.load(middle, format="wf.thing", supported=3, upgrades=upgrades) == {"name": "y", "tags": []}


def test_the_step_that_brought_checksums_may_bring_more() -> None:
    upgrades: dict[int, envelope.Upgrade] = {1: lambda body: {**body, "tags": []}}
    old = plain(envelope.dump("wf.thing", 1, {"a": 1}), 1)
    assert envelope.load(old, format="wf.thing", supported=2, plain=1, upgrades=upgrades) == {"a": 1, "tags": []}
