"""The stored form of a run: what is written is read again, exactly, and nothing else is."""

from collections.abc import Callable
from datetime import timedelta, timezone
from typing import Any

import pytest

from tests.wf_core.codec.damage import FREE, GOLDEN, damaged, golden, places
from tests.wf_core.kernel import LIST, NOW, ask, begin, each, node, path, plan, put, value
from wf_core.codec import dump_run, load_run
from wf_core.errors import FormatTooNew, NotJson, StateCorrupt
from wf_core.jsonvalue import loads

PLACES = list(places(golden()["body"]))


def test_a_run_is_read_as_it_was_written() -> None:
    stored = GOLDEN.read_bytes()
    assert dump_run(load_run(stored)) == stored


def test_the_trace_is_not_part_of_what_is_stored() -> None:
    drive = begin(plan({"say": put("state.a", value("noted only"))}, {"a": {}}))
    size = len(dump_run(drive.run))
    for number in range(50):
        drive.run.fresh_trace.append(b"{}" * number)
    assert len(dump_run(drive.run)) == size


def test_times_are_stored_in_utc_whatever_zone_they_were_given_in() -> None:
    here = begin(plan({"nap": node("t.sleep", input={"seconds": value(5)})}))
    there = begin(plan({"nap": node("t.sleep", input={"seconds": value(5)})}))
    there.now = NOW.astimezone(timezone(timedelta(hours=5, minutes=30)))
    here.look()
    there.look()
    assert dump_run(here.run) == dump_run(there.run)


def test_values_survive_exactly() -> None:
    odd: Any = [10**30, 2**64, -1, 1.0, 1e300, -0.0, "\u0000é𝄞\u2028", None, True, {"": {}, "b": [], "a": 1}]
    steps = {"each": each("ask"), "ask": ask(request={"odd": path("context.x")})}
    drive = begin(plan(steps, {"a": {"default": odd}}), {"items": [odd]})
    drive.look()
    loaded = load_run(dump_run(drive.run))
    (question,) = loaded.interrupts.values()
    for survived in (question.payload, loaded.scopes[0].layer.values["a"], loaded.scopes[0].input):
        text = repr(survived)
        assert repr(odd) in text


def test_what_looks_like_a_record_stays_a_value() -> None:
    lookalike = {
        "kind": "calling",
        "call": "c1",
        "format": "wf.run",
        "$type": "os.system",
        "lc": 2,
        "type": "constructor",
    }
    drive = begin(plan({"say": node(input=value_map(lookalike))}, {"a": {"default": lookalike}}))
    drive.look()
    loaded = load_run(dump_run(drive.run))
    assert loaded.calls["c1"].input == lookalike
    assert loaded.scopes[0].layer.values["a"] == lookalike


def value_map(members: dict[str, Any]) -> dict[str, Any]:
    return {f'"{name}"': value(member) for name, member in members.items()}


def test_a_value_that_is_no_json_is_not_written() -> None:
    drive = begin(plan({"say": node()}, {"a": {}}))
    no_json: Any = {1, 2}
    drive.run.scopes[0].layer.values["a"] = no_json
    with pytest.raises(NotJson):
        dump_run(drive.run)


def test_the_writes_of_a_concurrent_item_are_stored_and_not_what_they_lead_to() -> None:
    steps = {"each": each("note"), "note": put("state.log", path("context.x"), "ask"), "ask": ask()}
    drive = begin(plan(steps, {"log": {**LIST, "default": ["long"] * 1000}}), {"items": [1, 2]})
    drive.go()
    body: Any = loads(dump_run(drive.run))
    assert [one["writes"] for one in body["body"]["lineages"]] == [[[["log"], "append", 1]], [[["log"], "append", 2]]]


# Damaged documents


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
        load_run(damaged(("version",), lambda _: 2))


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


NAMES = frozenset({"run_id", "kind", "capability", "step_id", "message", "code"})
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
