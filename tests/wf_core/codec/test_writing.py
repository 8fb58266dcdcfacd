"""What is written of a run: all that it needs to go on, exactly, and nothing that follows from it."""

from datetime import timedelta, timezone
from typing import Any

import pytest

from tests.wf_core.kernel import LIST, NOW, ask, begin, each, node, path, plan, put, value
from wf_core.codec import dump_run, load_run
from wf_core.errors import NotJson
from wf_core.jsonvalue import loads


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


def test_what_a_person_said_of_a_call_is_stored() -> None:
    drive = begin(plan({"say": node()}))
    drive.look()
    drive.crash()
    drive.settle("c1", "retry")
    assert load_run(dump_run(drive.run)).frames[0].activity == drive.run.frames[0].activity
    drive.look()
    assert load_run(dump_run(drive.run)).calls == drive.run.calls
    assert drive.run.calls["c1"].settled is not None
