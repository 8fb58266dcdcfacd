"""A stored run whose fields are not those that are written, each in its place and of its type, is refused."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.wf_core.codec.damage import FREE, damaged, golden, places
from wf_core.codec import load_run
from wf_core.errors import StateCorrupt

PLACES = list(places(golden()["body"]))


def refused(data: bytes) -> None:
    with pytest.raises(StateCorrupt):
        load_run(data)


def accepted(place: Any, change: Callable[[Any], Any]) -> bool:
    try:
        load_run(damaged(place, change))
    except StateCorrupt:
        return False
    return True


def test_an_unknown_extra_field_is_refused_in_every_record() -> None:
    records = [place for place, found in PLACES if isinstance(found, dict)]
    assert [place for place in records if accepted(place, lambda record: {**record, "extra": 1})] == []


def test_a_missing_field_is_refused_in_every_record() -> None:
    fields = [place for place, _ in PLACES if isinstance(place[-1], str) and len(place) > 1]
    assert [place for place in fields if accepted(place, lambda _: ...)] == []


NAMES = frozenset({"run_id", "kind", "capability", "step_id", "message", "code", "reason"})
"""Texts that nothing else in the record refers to."""


@pytest.mark.parametrize("wrong", [True, 1.5, {"a": 1}, [[]], "?", -1], ids=str)
def test_a_value_of_another_type_is_refused_at_every_place(wrong: Any) -> None:
    places_of_other_types = [place for place, found in PLACES if type(found) is not type(wrong)]
    assert [place for place in places_of_other_types if accepted(place, lambda _: wrong)] == []


def test_a_value_that_refers_to_nothing_is_refused_at_every_place_but_free_names() -> None:
    texts = [place for place, found in PLACES if isinstance(found, str) and place[-1] not in NAMES]
    loose = [place for place in texts if accepted(place, lambda _: "?")]
    assert {place[-2] for place in loose} == {"path", "outcomes"}


@pytest.mark.parametrize("key", ["input", "state"])
def test_what_has_to_be_an_object_is_one(key: str) -> None:
    for place, found in PLACES:
        if isinstance(found, dict) and key in found and (key == "state" or "capability" in found):
            refused(damaged((*place, key), lambda _: [1]))


def test_any_json_may_stand_where_any_may() -> None:
    assert "payload" in FREE
    run = load_run(damaged(("body", "interrupts", 0, "payload"), lambda _: [None, {"any": 1.5}]))
    assert next(iter(run.interrupts.values())).payload == [None, {"any": 1.5}]


@pytest.mark.parametrize("schema", [3, "text", None, [1]])
def test_a_schema_is_an_object_or_a_boolean(schema: Any) -> None:
    for key in ("request_schema", "resume_schema"):
        refused(damaged(("body", "interrupts", 0, key), lambda _: schema))
    refused(damaged(("body", "interrupts", 0, "outcome_schemas"), lambda _: {"no": schema}))


@pytest.mark.parametrize(
    "write", [[], [[], "append", 1], [["a"], "unknown", 1], [["a"], 3, 1], [[1], "append", 1], [["a"], "append"], "a"]
)
def test_a_write_has_a_path_a_known_reducer_and_a_value(write: Any) -> None:
    refused(damaged(("body", "lineages", 0, "writes"), lambda _: [write]))


@pytest.mark.parametrize("pairs", [[[0]], [0], [["0", 1]], [[0, 1, 2]], [[-1, 1]]])
def test_what_belongs_to_an_item_is_a_pair_of_its_index_and_it(pairs: Any) -> None:
    for key in ("active", "writes", "failures", "parked"):
        refused(damaged(("body", "frames", 0, "activity", key), lambda _: pairs))


def test_no_item_stands_twice() -> None:
    for key in ("active", "writes", "failures", "parked"):
        refused(damaged(("body", "frames", 0, "activity", key), lambda pairs: [*pairs, pairs[0]]))


@pytest.mark.parametrize("key", ["scopes", "lineages", "frames", "calls", "interrupts"])
def test_no_record_stands_twice(key: str) -> None:
    refused(damaged(("body", key), lambda records: [*records, records[-1]]))


def test_what_was_said_of_a_call_is_a_kind_a_time_and_who_said_it() -> None:
    place, said = ("body", "calls", 0, "settled"), {"kind": "retry", "at": "2026-11-30T10:00:00+00:00", "by": "person"}
    call = next(iter(load_run(damaged(place, lambda _: said)).calls.values()))
    assert call.settled is not None
    assert (call.settled.kind, call.settled.by) == ("retry", "person")
    for wrong in ("retry", {}, {**said, "kind": "refused"}, {**said, "at": 3}, {**said, "by": "model"}):
        refused(damaged(place, lambda _, wrong=wrong: wrong))
