"""Stored documents are strict JSON with a format and a version (DESIGN: what must always hold, 5)."""

from typing import Any

import pytest

from wf_core.codec import envelope
from wf_core.errors import FormatTooNew, NotJson, StateCorrupt


def load(data: bytes, supported: int = 1) -> dict[str, Any]:
    return envelope.load(data, format="wf.thing", supported=supported)


def test_a_body_comes_back_as_it_was() -> None:
    body = {"b": 2**80, "a": [None, "\u0000", 0.1]}
    data = envelope.dump("wf.thing", 1, body)
    assert data.startswith(b'{"format":"wf.thing","version":1,"body":{"b":')
    assert load(data) == body


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
        load(envelope.dump("wf.thing", 4, {}), supported=3)
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
