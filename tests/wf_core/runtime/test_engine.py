"""The six transitions of a run, as its driver sees them."""

from typing import Any

import pytest

from tests.wf_core.kernel import (
    END,
    LIST,
    NOW,
    READ_ONLY,
    Failed,
    ask,
    begin,
    check,
    each,
    error_of,
    finish,
    loop,
    node,
    path,
    plan,
    put,
    value,
)
from wf_core.codec import dump_run
from wf_core.errors import InvalidInput, UnknownCall
from wf_core.jsonvalue import MAX_DEPTH
from wf_core.runtime import CallFailure, Ready, Stopped, Waiting, cancel, complete, fail, next_work
from wf_core.runtime.engine import STEPS_AT_ONCE

# start


def test_input_is_checked_against_its_schema_before_there_is_a_run() -> None:
    document = plan({"say": node()}, input_schema={"type": "object", "required": ["a"]})
    with pytest.raises(InvalidInput) as caught:
        begin(document, {})
    assert caught.value.code == "invalid_input"
    assert caught.value.details["problems"][0]["where"] == "input"


@pytest.mark.parametrize("odd", [float("nan"), {"a": {1}}, {1: "a"}, "\ud800", (1,)])
def test_input_that_is_no_json_is_invalid_input(odd: Any) -> None:
    with pytest.raises(InvalidInput):
        begin(plan({"say": node()}), {"value": odd})


def test_a_property_default_is_the_fields_value_at_start_and_initial_state_comes_next() -> None:
    state = {"a": {"default": 1}, "b": {"default": 1}, "seen": {**LIST, "default": ["x"]}, "none": {"default": None}}
    document = plan(
        {"say": node(input={"state": path("state")})},
        state,
        initial_state={"state.b": path("input.b"), "state.seen": {"array": [path("input.b")]}},
    )
    drive = begin(document, {"b": 2})
    drive.go()
    assert drive.inputs == [{"state": {"a": 1, "b": 2, "seen": [2], "none": None}}]


def test_a_nested_default_brings_its_parent_into_being() -> None:
    state = {"a": {"type": "object", "properties": {"b": {"properties": {"c": {"default": 1}}}, "d": {}}}}
    assert finish(plan({"say": node()}, state, output={"state": path("state")})).output == {
        "state": {"a": {"b": {"c": 1}}}
    }


def test_a_default_in_input_schema_is_not_applied() -> None:
    schema = {"type": "object", "properties": {"a": {"default": 1}}}
    drive = begin(plan({"say": node(input={"given": path("input")})}, input_schema=schema), {})
    drive.go()
    assert drive.inputs == [{"given": {}}]


def test_input_is_not_copied_into_state() -> None:
    drive = begin(plan({"say": node(input={"state": path("state")})}, {"a": {}}), {"a": 1})
    drive.go()
    assert drive.inputs == [{"state": {}}]


@pytest.mark.parametrize(
    ("initial", "code"), [(path("input.gone"), "path_not_found"), (value("text"), "state_invalid")]
)
def test_initial_state_that_cannot_be_built_fails_the_run_before_its_first_step(initial: Any, code: str) -> None:
    document = plan({"say": node()}, {"n": {"type": "integer"}}, initial_state={"state.n": initial})
    drive = begin(document)
    assert error_of(drive.run) == (code, None)
    assert drive.look() == Stopped("failed")
    assert drive.made == []
    dump_run(drive.run)


def test_initial_state_that_nests_too_deeply_fails_the_run() -> None:
    deep: Any = 0
    for _ in range(MAX_DEPTH - 2):
        deep = [deep]
    nested = {"array": [{"array": [{"array": [path("input.deep")]}]}]}
    drive = begin(plan({"say": node()}, {"n": {}}, initial_state={"state.n": nested}), {"deep": deep})
    assert error_of(drive.run) == ("state_invalid", None)


# next_work


def test_steps_that_need_nobody_are_executed_at_once() -> None:
    steps = {
        "if": check({"op": "exists", "path": "input.a"}, "join", "other"),
        "join": {"type": "join", "routes": {"ok": "end"}},
        "other": node(),
        "end": {"type": "end"},
    }
    drive = begin(plan(steps), {"a": 1})
    assert drive.look() == Stopped("completed")
    assert [entry["step_id"] for entry in drive.trace] == ["if", "join", "end"]


def test_calls_that_may_run_at_the_same_time_come_together() -> None:
    drive = begin(plan({"each": each("call"), "call": node()}), {"items": [1, 2, 3]})
    work = drive.look()
    assert isinstance(work, Ready)
    assert [call.call_id for call in work.calls] == ["c1", "c2", "c3"]
    assert drive.look() == Waiting(None)


def test_a_call_is_handed_out_once() -> None:
    drive = begin(plan({"call": node()}))
    drive.look()
    assert drive.look() == Waiting(None)


def test_a_stopped_run_stays_stopped() -> None:
    drive = begin(plan({"call": node()}))
    drive.go()
    assert drive.look() == Stopped("completed")
    drive = begin(plan({"ask": ask()}))
    assert drive.look() == drive.look() == Stopped("interrupted")


def test_a_long_run_of_steps_lets_its_driver_breathe() -> None:
    document = plan({"each": loop("join"), "join": {"type": "join", "routes": {"ok": END}}})
    drive = begin(document, {"items": list(range(STEPS_AT_ONCE + 10))}, reloading=True)
    assert drive.look() == Ready((), None)
    assert drive.run.steps_executed == STEPS_AT_ONCE
    assert drive.look() == Stopped("completed")


def test_waiting_says_when_the_earliest_wait_ends() -> None:
    steps = {"each": each("nap"), "nap": node("t.sleep", input={"seconds": path("context.x")})}
    drive = begin(plan(steps), {"items": [30, 10]})
    work = drive.look()
    assert isinstance(work, Waiting)
    assert work.until is not None
    assert (work.until - NOW).total_seconds() == 10


def endless() -> dict[str, Any]:
    return plan({"a": {"type": "join", "routes": {"ok": "b"}}, "b": {"type": "join", "routes": {"ok": "a"}}})


def test_max_steps_bounds_executed_steps_and_is_10000_by_default() -> None:
    run = finish(endless())
    assert error_of(run)[0] == "step_limit_exceeded"
    assert run.steps_executed == 10_000
    assert finish({**endless(), "limits": {"max_steps": 3}}).steps_executed == 3


def test_max_steps_counts_every_visit_of_a_step_in_items_and_children_too() -> None:
    inner = plan({"a": {"type": "join", "routes": {"ok": "b"}}, "b": {"type": "join", "routes": {"ok": END}}})
    steps = {"each": loop("sub"), "sub": {"type": "subgraph", "workflow": {"plan": inner}, "routes": {"ok": END}}}
    assert finish(plan(steps), {"items": [1, 2]}).steps_executed == 1 + 2 * 3
    run = finish(plan(steps, limits={"max_steps": 6}), {"items": [1, 2]})
    assert error_of(run) == ("step_limit_exceeded", "b")


def test_the_limit_is_that_of_the_run_not_of_a_child() -> None:
    inner = {**endless(), "limits": {"max_steps": 2}}
    step = {"type": "subgraph", "workflow": {"plan": inner}, "routes": {"ok": END}}
    assert finish(plan({"sub": step}, limits={"max_steps": 9})).steps_executed == 9


def test_a_loop_that_skips_failures_ends_when_the_limit_is_reached() -> None:
    steps = {"each": loop("call", on_item_error="skip"), "call": node()}
    run = finish(plan(steps, limits={"max_steps": 3}), {"items": list(range(10))})
    assert (run.status, run.steps_executed) == ("completed", 3)


# complete and fail


def test_a_call_that_is_not_in_flight_is_unknown_and_changes_nothing() -> None:
    drive = begin(plan({"call": node(to="more"), "more": node()}))
    drive.look()
    drive.deliver()
    before = dump_run(drive.run)
    for call_id in ("c1", "c2", "", "int_1"):
        with pytest.raises(UnknownCall):
            complete(drive.program, drive.run, call_id, outcome="ok", output={}, now=NOW)
        with pytest.raises(UnknownCall):
            fail(drive.program, drive.run, call_id, CallFailure("timeout", "late"), now=NOW)
    assert dump_run(drive.run) == before


def test_a_call_between_two_attempts_is_not_in_flight() -> None:
    drive = begin(plan({"call": node("t.breaks", retry={"on": "any"})}))
    drive.look()
    drive.deliver()
    with pytest.raises(UnknownCall):
        complete(drive.program, drive.run, "c1", outcome="ok", output={}, now=NOW)


# cancel


def test_cancelling_ends_the_run_and_everything_that_was_open() -> None:
    steps = {
        "each": each("which"),
        "which": check({"op": "eq", "left": path("context.x"), "right": value("ask")}, "ask", "call"),
        "ask": ask(),
        "call": node(),
    }
    drive = begin(plan(steps), {"items": ["ask", "b"]})
    drive.look()
    cancel(drive.program, drive.run, reason="No longer needed.", now=NOW)
    run = drive.run
    assert (run.status, run.outcome, run.output) == ("cancelled", None, None)
    assert run.error is not None
    assert (run.error.code, run.error.message, run.error.step_id) == ("cancelled", "No longer needed.", None)
    assert not any((run.frames, run.calls, run.interrupts, run.lineages, run.ready))
    assert drive.look() == Stopped("cancelled")
    dump_run(run)


@pytest.mark.parametrize("steps_before", [0, 1, 2])
def test_cancelling_leaves_nothing_behind_wherever_the_run_stands(steps_before: int) -> None:
    inner = plan({"nap": node("t.sleep", input={"seconds": value(5)}, to="call"), "call": node()})
    sub = {"type": "subgraph", "workflow": {"plan": inner}, "routes": {"ok": END}}
    drive = begin(plan({"each": each("sub"), "sub": sub}), {"items": [1, 2]})
    for _ in range(steps_before):
        drive.look()
        drive.wait(5)
    cancel(drive.program, drive.run, reason=None, now=drive.now)
    run = drive.run
    assert (list(run.scopes), list(run.ready), run.delays, run.frames) == ([0], [], {}, {})


def test_cancelling_notes_the_calls_that_were_in_flight() -> None:
    drive = begin(plan({"call": node(input={"a": value(1)})}))
    drive.look()
    cancel(drive.program, drive.run, reason=None, now=NOW)
    drive.look()
    (entry,) = drive.trace
    assert (entry["step_id"], entry["input"], entry["error"]["code"]) == ("call", {"a": 1}, "cancelled")


def breaks_once(given: Any) -> Any:
    raise Failed("timeout")


@pytest.mark.parametrize(
    ("step", "known"),
    [
        (node(), "unknown"),
        (node("t.reads"), "none"),
        (node("t.sleep", input={"seconds": value(9)}), "none"),
        (ask(), "none"),
    ],
)
def test_the_error_of_a_cancelled_run_says_whether_there_may_be_side_effects(step: Any, known: str) -> None:
    drive = begin(plan({"step": step}), contracts={"t.reads": READ_ONLY})
    drive.look()
    cancel(drive.program, drive.run, reason=None, now=NOW)
    assert drive.run.error is not None
    assert drive.run.error.side_effects == known


def test_cancelling_between_two_attempts_remembers_what_the_first_may_have_done() -> None:
    document = plan({"call": node("t.it", retry={"on": "any"})})
    drive = begin(document, fakes={"t.it": breaks_once}, reloading=True)
    drive.look()
    drive.deliver()
    cancel(drive.program, drive.run, reason=None, now=NOW)
    assert drive.run.error is not None
    assert drive.run.error.side_effects == "unknown"


def test_cancelling_a_run_that_is_over_changes_nothing() -> None:
    drive = begin(plan({"say": node()}))
    before = dump_run(drive.go())
    cancel(drive.program, drive.run, reason="late", now=NOW)
    assert dump_run(drive.run) == before


def test_a_reason_that_is_no_text_is_kept_as_far_as_it_is() -> None:
    drive = begin(plan({"say": node()}))
    cancel(drive.program, drive.run, reason="\udce9", now=NOW)
    assert drive.run.error is not None
    assert drive.run.error.message == "?"


# Whole runs


def test_the_same_answers_in_the_same_order_give_the_same_bytes() -> None:
    def once() -> tuple[bytes, list[bytes]]:
        steps = {"each": each("call"), "call": put("state.seen", path("context.x"))}
        drive = begin(plan(steps, {"seen": LIST}), {"items": [3, 1, 2]})
        return dump_run(drive.go(choose=lambda pending: pending[-1])), drive.raw_trace

    assert once() == once()


def test_a_transition_that_raises_has_changed_nothing() -> None:
    drive = begin(plan({"call": node()}))
    drive.look()
    before = dump_run(drive.run)
    with pytest.raises(UnknownCall):
        complete(drive.program, drive.run, "c9", outcome="ok", output={}, now=NOW)
    assert dump_run(drive.run) == before
    assert next_work(drive.program, drive.run, now=NOW) == Waiting(None)
