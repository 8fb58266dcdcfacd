"""Carrying loops through: which items run, in which order, and what becomes of the loop when they end.

Places are in test_tree, branches in test_parallel.
"""

from typing import Any

from tests.wf_core.kernel import (
    BREAK,
    Failed,
    begin,
    child,
    each,
    error_of,
    finish,
    loop,
    node,
    path,
    plan,
    put,
)
from tests.wf_core.runtime.noting import MODES, RESULT, SEEN, noting, seen
from wf_core.jsonvalue import MAX_DEPTH
from wf_core.state import Looping


def test_serial_items_run_one_after_another_and_see_what_those_before_wrote() -> None:
    steps = {"each": loop("note"), "note": put("state.seen", path("state.seen"))}
    drive = begin(plan(steps, SEEN, output=RESULT), {"items": [1, 2, 3]})
    assert drive.go().output == {"seen": [[], [[]], [[], [[]]]]}
    assert drive.most_pending == 1


def test_concurrent_items_see_the_state_from_when_the_loop_began_plus_their_own_writes() -> None:
    steps = {
        "before": put("state.seen", {"value": "before"}, to="each"),
        "each": each("first"),
        "first": put("state.seen", path("context.x"), to="second"),
        "second": node(input={"seen": path("state.seen")}),
    }
    drive = begin(plan(steps, SEEN, output=RESULT), {"items": ["a", "b"]})
    run = drive.go()
    assert drive.inputs[-2:] == [{"seen": ["before", "a"]}, {"seen": ["before", "b"]}]
    assert run.output == {"seen": ["before", "a", "b"]}


def test_nothing_of_a_concurrent_loop_is_in_the_state_before_every_item_has_ended() -> None:
    drive = begin(noting(each), {"items": ["a", "b"]})
    drive.look()
    drive.deliver()
    drive.look()
    assert drive.run.scopes[0].layer.whole()["seen"] == []


def test_writes_of_concurrent_items_commit_in_item_order_whatever_order_they_finish_in() -> None:
    drive = begin(noting(each), {"items": ["a", "b", "c"]})
    run = drive.go(choose=lambda pending: pending[-1])
    assert run.output == {"seen": ["a", "b", "c"], "errors": []}


def test_max_active_bounds_the_items_that_execute_and_is_4_by_default() -> None:
    for more, bound in (({}, 4), ({"max_active": 2}, 2), ({"max_active": 100}, 9)):
        drive = begin(noting(each, **more), {"items": list("abcdefghi")})
        drive.go()
        assert drive.most_pending == bound


def test_a_place_that_becomes_free_is_taken_by_the_next_item_at_once() -> None:
    drive = begin(noting(each, max_active=2), {"items": ["a", "b", "c"]})
    drive.look()
    drive.deliver("c2")
    drive.look()
    assert [call.input["value"] for call in drive.pending.values()] == ["a", "c"]


@MODES
def test_fail_is_the_default_and_ends_the_run_with_the_items_error(kind: Any) -> None:
    drive = begin(noting(kind), {"items": ["a", "bad b", "c"]})
    run = drive.go()
    assert error_of(run) == ("capability_error", "note")
    assert run.error is not None
    assert run.error.path == ("each", "1", "note")


def test_with_fail_the_first_failure_by_item_order_is_the_one_reported() -> None:
    drive = begin(noting(each), {"items": ["bad 0", "bad 1", "c"]})
    drive.look()
    drive.deliver("c2")
    drive.deliver("c1")
    run = drive.go()
    assert run.error is not None
    assert run.error.message == "bad 0"


def test_with_fail_nothing_of_a_concurrent_loop_is_committed() -> None:
    run = finish(noting(each), {"items": ["a", "bad"]})
    assert run.scopes[0].layer.whole() == {"seen": [], "errors": []}


def test_with_fail_items_still_executing_are_told_to_cancel_and_noted_as_such() -> None:
    drive = begin(noting(each), {"items": ["bad", "b"]})
    drive.look()
    drive.deliver("c1")
    drive.look()
    assert drive.run.calls == {}
    assert [(one["path"], one["error"]["code"], one["error"]["side_effects"]) for one in drive.trace] == [
        (["each", "0", "note"], "capability_error", "unknown"),
        (["each", "1", "note"], "cancelled", "unknown"),
        (["each"], "capability_error", "unknown"),
    ]


def test_calls_deep_inside_a_cancelled_sibling_are_noted_too() -> None:
    inner = plan({"say": node("t.sleep", input={"seconds": {"value": 9}})})
    steps = {
        "each": each("which"),
        "which": {
            "type": "condition",
            "check": {"op": "eq", "left": path("context.x"), "right": {"value": "bad"}},
            "routes": {"true": "call", "false": "sub"},
        },
        "call": node("t.breaks"),
        "sub": child(inner),
    }
    drive = begin(plan(steps), {"items": ["bad", "b"]})
    drive.go()
    cancelled = [entry for entry in drive.trace if entry["error"] and entry["error"]["code"] == "cancelled"]
    assert [(entry["path"], entry["error"]["side_effects"]) for entry in cancelled] == [
        (["each", "1", "sub", "say"], "none")
    ]


def test_an_item_that_fails_at_once_stops_calls_that_were_only_about_to_begin() -> None:
    steps = {"each": each("read"), "read": node(input={"value": path("context.x.v")})}
    drive = begin(plan(steps), {"items": [{"v": 1}, {}]})
    work = drive.look()
    assert error_of(drive.run) == ("path_not_found", "read")
    assert not drive.pending, work


def test_cancelled_siblings_leave_no_call_question_lineage_or_scope_behind() -> None:
    """The loop fails inside an item of another loop that goes on, so nothing is cleared by the run's own end."""
    inner_child = plan({"ask": {"type": "interrupt", "kind": "k", "routes": {"submitted": "__end__"}}})
    steps = {
        "outer": each("inner", on_item_error="skip"),
        "inner": {**each("which", over="context.x"), "as": "y"},
        "which": {
            "type": "condition",
            "check": {"op": "eq", "left": path("context.y"), "right": {"value": "ask"}},
            "routes": {"true": "sub", "false": "call"},
        },
        "sub": child(inner_child),
        "call": node("t.picky", input={"value": path("context.y")}),
    }
    drive = begin(plan(steps), {"items": [["ask", "b", "bad"], ["c"]]}, reloading=True)
    drive.look()
    assert (len(drive.run.calls), len(drive.run.interrupts)) == (3, 1)
    drive.deliver(next(call_id for call_id, call in drive.pending.items() if call.input == {"value": "bad"}))
    drive.look()
    assert [call.input for call in drive.pending.values()] == [{"value": "c"}]
    assert drive.run.interrupts == {}
    assert list(drive.run.scopes) == [0]
    kept = [lineage.frame for lineage in drive.run.lineages.values()]
    assert all(number in drive.run.frames for number in kept)
    assert drive.go().status == "completed"


@MODES
def test_skip_goes_on_after_a_failed_item(kind: Any) -> None:
    run = finish(noting(kind, on_item_error="skip"), {"items": ["a", "bad b", "c"]})
    assert (run.outcome, run.output) == ("ok", {"seen": ["a", "c"], "errors": []})


@MODES
def test_completed_with_errors_is_taken_instead_of_done_where_it_exists(kind: Any) -> None:
    document = noting(kind, on_item_error="skip", routes={"completed_with_errors": "partly"})
    assert finish(document, {"items": ["a", "bad"]}).outcome == "partly"
    assert finish(document, {"items": ["a"]}).outcome == "ok"


@MODES
def test_collect_to_appends_index_item_and_error(kind: Any) -> None:
    run = finish(noting(kind, on_item_error={"collect_to": "state.errors"}), {"items": ["a", "bad b", "c", "bad d"]})
    errors = [
        {
            "index": index,
            "item": item,
            "error": {"code": "capability_error", "message": item, "step_id": "note"},
        }
        for index, item in [(1, "bad b"), (3, "bad d")]
    ]
    assert run.output == {"seen": ["a", "c"], "errors": errors}


def test_collected_errors_of_a_serial_loop_are_there_for_the_next_item() -> None:
    document = noting(loop, on_item_error={"collect_to": "state.errors"})
    document["steps"]["note"]["input"]["known"] = path("state.errors")
    drive = begin(document, {"items": ["bad a", "b"]})
    drive.go()
    assert len(drive.inputs[1]["known"]) == 1


def test_collected_errors_meet_the_writes_of_other_items_in_item_order() -> None:
    document = noting(each, on_item_error={"collect_to": "state.seen"})
    collected = seen(document, ["a", "bad", "c"])
    assert [one if isinstance(one, str) else one["index"] for one in collected] == ["a", 1, "c"]


@MODES
def test_a_failing_inner_loop_is_the_failure_of_its_item(kind: Any) -> None:
    steps = {
        "each": kind("in", on_item_error={"collect_to": "state.seen"}),
        "in": loop("note", over="context.x"),
        "note": node("t.breaks"),
    }
    collected = seen(plan(steps, SEEN, output=RESULT), [3, ["x"], []])
    assert [(one["index"], one["error"]["code"], one["error"]["step_id"]) for one in collected] == [
        (0, "foreach_not_a_list", "in"),
        (1, "capability_error", "note"),
    ]


@MODES
def test_a_failing_subgraph_is_the_failure_of_its_item(kind: Any) -> None:
    inner = plan({"note": node("t.picky", input={"value": path("input.x")})})
    steps = {"each": kind("sub", on_item_error="skip"), "sub": child(inner, "note", input={"x": path("context.x")})}
    steps["note"] = put("state.seen", path("context.x"))
    assert seen(plan(steps, SEEN, output=RESULT), ["a", "bad", "c"]) == ["a", "c"]


def half_done(kind: Any) -> dict[str, Any]:
    steps = {
        "each": kind("note", on_item_error="skip"),
        "note": put("state.seen", path("context.x"), to="then"),
        "then": node("t.picky", input={"value": path("context.x")}),
    }
    return plan(steps, SEEN, output=RESULT)


def test_what_a_failed_serial_item_wrote_stays() -> None:
    assert seen(half_done(loop), ["a", "bad", "c"]) == ["a", "bad", "c"]


def test_what_a_failed_concurrent_item_wrote_is_dropped_with_it() -> None:
    assert seen(half_done(each), ["a", "bad", "c"]) == ["a", "c"]


def breaking(last: str, **more: Any) -> dict[str, Any]:
    steps = {
        "each": loop("note", **more),
        "note": put("state.seen", path("context.x"), to="which"),
        "which": {
            "type": "condition",
            "check": {"op": "eq", "left": path("context.x"), "right": {"value": last}},
            "routes": {"true": BREAK, "false": "try"},
        },
        "try": node("t.picky", input={"value": path("context.x")}),
        "partly": {"type": "end", "outcome": "partly"},
    }
    return plan(steps, SEEN, output=RESULT, outcomes=["ok", "partly"])


def test_break_leaves_the_loop_by_done_after_this_item() -> None:
    assert seen(breaking("b"), ["a", "b", "c"]) == ["a", "b"]


def test_break_after_a_failed_item_goes_by_completed_with_errors_where_that_exists() -> None:
    document = breaking("b", on_item_error="skip", routes={"completed_with_errors": "partly"})
    assert finish(document, {"items": ["bad", "b", "c"]}).outcome == "partly"
    assert finish(document, {"items": ["a", "b", "c"]}).outcome == "ok"


@MODES
def test_a_body_that_is_only_the_end_does_nothing_for_each_item(kind: Any) -> None:
    run = finish(plan({"each": kind("__end__")}), {"items": [1, 2]})
    assert (run.status, run.steps_executed) == ("completed", 1)


def test_a_body_that_is_only_a_break_leaves_at_once() -> None:
    drive = begin(plan({"each": loop(BREAK)}), {"items": [1, 2]})
    drive.go()
    assert drive.trace[0]["output"] == {"items": 2, "failed": 0}


def test_an_item_that_nests_too_deeply_to_be_collected_fails_the_loop() -> None:
    deep: Any = "bad"
    for _ in range(MAX_DEPTH - 2):
        deep = [deep]
    steps = {
        "each": each("note", over="state.errors", on_item_error={"collect_to": "state.errors"}, to="each"),
        "note": node("t.breaks"),
    }
    document = plan(steps, {"errors": {"type": "array", "default": [deep], "reducer": "append"}})
    assert error_of(finish(document)) == ("state_invalid", "each")


def test_retrying_and_sleeping_items_are_items_that_execute() -> None:
    attempts: dict[str, int] = {}

    def flaky(given: dict[str, Any]) -> Any:
        attempts[given["value"]] = attempts.get(given["value"], 0) + 1
        if attempts[given["value"]] == 1:
            raise Failed(executed=False)
        return given

    steps = {
        "each": each("nap", max_active=2),
        "nap": node("t.sleep", input={"seconds": {"value": 5}}, to="note"),
        "note": node(
            "t.flaky", input={"value": path("context.x")}, output={"state.seen": "value"}, retry={"max_attempts": 2}
        ),
    }
    drive = begin(plan(steps, SEEN, output=RESULT), {"items": ["a", "b", "c"]}, fakes={"t.flaky": flaky})
    drive.look()
    started = drive.run.frames[0].activity
    assert isinstance(started, Looping)
    assert list(started.active) == [0, 1]
    assert drive.go().output == {"seen": ["a", "b", "c"]}
    assert attempts == {"a": 2, "b": 2, "c": 2}
