"""A document is read as the record that was written, or refused by name."""

import json
from typing import Any

import pytest

from tests.documents import resealed
from wf_artifacts.storage.documents import Format, corrupt, naming
from wf_artifacts.storage.records import Record
from wf_core.errors import FormatTooNew, NotJson, StateCorrupt


class Thing(Record):
    name: str
    count: int = 0
    value: Any = None


THING = Format("wf.thing", 3, Thing, {1: lambda body: {"name": body["title"]}}, plain=2)


def document(version: int = 2, **body: Any) -> bytes:
    """A document without a checksum."""
    return json.dumps({"format": "wf.thing", "version": version, "body": body}).encode()


def test_a_record_comes_back() -> None:
    thing = Thing(name="x", count=3, value={"n": 2**70})
    assert THING.decode(THING.encode(thing), "things/x") == thing


def test_what_is_no_json_is_not_written() -> None:
    with pytest.raises(NotJson):
        THING.encode(Thing(name="x", value=float("inf")))


def test_an_older_version_is_brought_up() -> None:
    assert THING.decode(document(1, title="x"), "things/x") == Thing(name="x")
    assert THING.decode(document(2, name="x"), "things/x") == Thing(name="x")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "it is empty"),
        (document(), "body.name: Field required"),
        (document(name="x", more=1), "body.more: Extra inputs are not permitted"),
        (document(name=1), "body.name: Input should be a valid string"),
        (document(name="x", count="3"), "body.count: Input should be a valid integer"),
        (document(name="x", count=True), "body.count: Input should be a valid integer"),
        (resealed(document(3, name="x", more=1)), "body.more: Extra inputs are not permitted"),
        (document(3, name="x"), "its checksum is missing"),
        (resealed(document(3, name="x")).replace(b'"x"', b'"y"'), "it is not what was written"),
    ],
)
def test_damage_is_named_with_its_place(data: bytes, reason: str) -> None:
    with pytest.raises(StateCorrupt) as told:
        THING.decode(data, "things/x")
    assert told.value.message == f"The stored document things/x is damaged: {reason}."
    assert told.value.details == {"document": "things/x", "reason": reason}


def test_a_newer_version_is_named() -> None:
    with pytest.raises(FormatTooNew, match="stored document things/x was written by a newer version"):
        THING.decode(document(4, name="x"), "things/x")


def test_naming_says_which_document_an_error_is_about() -> None:
    with pytest.raises(StateCorrupt, match=r"stored document a is damaged: something\."), naming("a"):
        raise StateCorrupt("something.")
    assert corrupt("a", "something").hint is not None
