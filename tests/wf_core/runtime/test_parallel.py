"""Parallel steps: branches that go on at once, and meet."""

from typing import Any

import pytest

from tests.documents import resealed
from tests.wf_core.kernel import (
    LIST,
    Json,
    ask,
    begin,
    check,
    child,
    each,
    error_of,
    finish,
    loop,
    node,
    output_of,
    parallel,
    path,
    plan,
    put,
    value,
)
from wf_core.codec import dump_run, load_run
from wf_core.errors import StateCorrupt
from wf_core.runtime import Ready, Stopped

SEEN: Json = {"seen": LIST, "n": {"type": "integer", "default": 0}, "a": {}, "b": {}}
OUTPUT: Json = {"seen": path("state.seen"), "n": path("state.n")}


def both(left: Json, right: Json, to: str = "__end__", **more: Any) -> Json:
    """Write a plan that runs two steps at once."""
    steps = {"both": parallel({"left": "one", "right": "two"}, to), "one": left, "two": right, **more}
    return plan(steps, SEEN, output=OUTPUT)


SAYS = both(put("state.seen", value("left")), put("state.seen", value("right")))


def test_all_branches_begin_at_once() -> None:
    drive = begin(SAYS)
    work = drive.look()
    assert isinstance(work, Ready)
    assert [call.step_id for call in work.calls] == ["one", "two"]


@pytest.mark.parametrize("order", [["c1", "c2"], ["c2", "c1"]])
def test_writes_commit_in_the_order_of_the_branches_whatever_order_they_end_in(order: list[str]) -> None:
    drive = begin(SAYS, reloading=True)
    drive.look()
    for call_id in order:
        drive.deliver(call_id)
    assert output_of(drive.go())["seen"] == ["left", "right"]


def test_a_branch_sees_the_state_from_when_the_step_began_and_its_own_writes() -> None:
    steps = {
        "first": put("state.n", value(1), to="both"),
        "both": parallel({"left": "one", "right": "two"}),
        "one": put("state.n", value(2), to="one_more"),
        "one_more": put("state.seen", path("state.n")),
        "two": put("state.seen", path("state.n")),
    }
    drive = begin(plan(steps, SEEN, output=OUTPUT), reloading=True)
    run = drive.go(choose=lambda pending: pending[0])
    assert output_of(run) == {"seen": [2, 1], "n": 2}


def test_nothing_that_a_branch_writes_is_committed_before_all_have_ended() -> None:
    drive = begin(SAYS)
    drive.look()
    drive.deliver("c1")
    drive.look()
    assert drive.run.scopes[0].layer.whole()["seen"] == []


def test_writes_of_two_branches_to_one_path_without_a_reducer_are_conflicting_writes() -> None:
    run = finish(both(put("state.n", value(1)), put("state.n", value(2))))
    assert error_of(run) == ("conflicting_writes", "both")
    assert run.error is not None
    assert "state.n is written by branch left and state.n by branch right" in run.error.message
    assert run.scopes[0].layer.whole()["n"] == 0


def test_branches_may_write_paths_of_their_own_without_a_reducer() -> None:
    run = finish(both(put("state.a", value(1)), put("state.b", value(2))))
    assert run.scopes[0].layer.whole() == {"seen": [], "n": 0, "a": 1, "b": 2}


def test_a_branch_that_fails_fails_the_step_and_cancels_the_others() -> None:
    drive = begin(both(node("t.breaks", input={"value": value("no")}), node()))
    drive.look()
    drive.deliver("c1")
    assert drive.look() == Stopped("failed")
    assert drive.run.calls == {}
    assert error_of(drive.run) == ("capability_error", "one")
    left, right, whole = drive.trace
    assert (left["error"]["message"], right["error"]["code"]) == ("no", "cancelled")
    assert right["error"]["message"] == "both ended because its branch left failed."
    assert whole["step_id"] == "both"


def test_of_several_branches_that_fail_the_first_names_the_error() -> None:
    drive = begin(both(node("t.breaks", input={"value": value("1")}), node("t.breaks", input={"value": value("2")})))
    drive.look()
    drive.deliver("c2")
    drive.deliver("c1")
    drive.look()
    assert drive.run.error is not None
    assert drive.run.error.message == "1"


def test_error_path_and_trace_path_carry_the_name_of_the_branch() -> None:
    drive = begin(both(node(), node("t.breaks")))
    run = drive.go()
    assert run.error is not None
    assert run.error.path == ("both", "right", "two")
    assert [call.path for call in drive.made] == [("both", "left", "one"), ("both", "right", "two")]
    assert [entry["path"] for entry in drive.trace] == [["both", "left", "one"], ["both", "right", "two"], ["both"]]
    assert drive.trace[-1]["step_type"] == "parallel"


def test_a_branch_without_steps_has_ended_from_the_start() -> None:
    steps = {"both": parallel({"nothing": "__end__", "right": "two"}), "two": put("state.seen", value("right"))}
    assert output_of(finish(plan(steps, SEEN, output=OUTPUT)))["seen"] == ["right"]


def test_a_step_all_of_whose_branches_are_without_steps_is_done() -> None:
    drive = begin(plan({"both": parallel({"a": "__end__", "b": "__end__"}, "say"), "say": node()}))
    assert drive.go().status == "completed"
    assert drive.trace[0]["next_step_id"] == "say"


@pytest.mark.parametrize("order", [["int_1", "int_2"], ["int_2", "int_1"]])
def test_questions_of_branches_are_open_at_once_and_answered_in_any_order(order: list[str]) -> None:
    question = ask(resume={"state.seen": "said"})
    drive = begin(both(question, question), reloading=True)
    assert drive.look() == Stopped("interrupted")
    assert [one.path for one in drive.run.interrupts.values()] == [("both", "left", "one"), ("both", "right", "two")]
    for interrupt_id in order:
        drive.answer({"said": interrupt_id}, interrupt_id)
        drive.look()
    assert output_of(drive.run)["seen"] == ["int_1", "int_2"]


def test_a_branch_goes_on_while_another_asks() -> None:
    drive = begin(both(ask(), put("state.a", value(1), to="then"), then=put("state.b", value(2))))
    drive.go()
    assert drive.run.status == "interrupted"
    assert len(drive.made) == 2
    drive.answer()
    assert drive.go().scopes[0].layer.whole()["b"] == 2


def note(*names: str) -> Json:
    return put("state.seen", {"array": [path(f"context.{name}") for name in names]})


@pytest.mark.parametrize("kind", [loop, each])
def test_the_item_of_a_loop_around_is_visible_in_a_branch(kind: Any) -> None:
    steps = {"each": kind("both"), "both": parallel({"l": "one", "r": "two"}), "one": note("x"), "two": note("x_index")}
    drive = begin(plan(steps, SEEN, output=OUTPUT), {"items": ["a", "b"]}, reloading=True)
    run = drive.go(choose=lambda pending: pending[-1])
    assert output_of(run)["seen"] == [["a"], [0], ["b"], [1]]
    assert ("each", "1", "both", "r", "two") in [call.path for call in drive.made]


def test_the_context_names_no_branch() -> None:
    drive = begin(both(node(input={"value": path("context")}), node()))
    drive.look()
    assert drive.inputs[0]["value"].keys() == {"run_id", "step_id", "attempt"}


@pytest.mark.parametrize("kind", [loop, each])
def test_a_loop_may_be_in_a_branch(kind: Any) -> None:
    steps = {
        "both": parallel({"l": "each", "r": "two"}),
        "each": kind("one"),
        "one": note("x"),
        "two": put("state.seen", value("right")),
    }
    drive = begin(plan(steps, SEEN, output=OUTPUT), {"items": [1, 2]}, reloading=True)
    run = drive.go(choose=lambda pending: pending[-1])
    assert output_of(run)["seen"] == [[1], [2], "right"]


def test_a_break_leaves_a_serial_loop_inside_a_branch() -> None:
    steps = {
        "both": parallel({"l": "each"}),
        "each": loop("which"),
        "which": check({"op": "eq", "left": path("context.x"), "right": value(2)}, "__break__", "one"),
        "one": note("x"),
    }
    assert output_of(finish(plan(steps, SEEN, output=OUTPUT), {"items": [1, 2, 3]}))["seen"] == [[1]]


def test_a_parallel_step_may_be_in_a_branch() -> None:
    steps = {
        "outer": parallel({"l": "inner", "r": "three"}),
        "inner": parallel({"l": "one", "r": "two"}),
        **{name: put("state.seen", path("context.step_id")) for name in ("one", "two", "three")},
    }
    drive = begin(plan(steps, SEEN, output=OUTPUT), reloading=True)
    assert output_of(drive.go(choose=lambda pending: pending[-1]))["seen"] == ["one", "two", "three"]


def test_branches_run_inside_a_child_workflow_and_children_inside_branches() -> None:
    steps = {"both": parallel({"l": "sub", "r": "sub_too"}), "sub": run_child(), "sub_too": run_child()}
    drive = begin(plan(steps, SEEN, output=OUTPUT), reloading=True)
    drive.go(choose=lambda pending: pending[-1])
    assert output_of(drive.run)["seen"] == [["left", "right"], ["left", "right"]]
    assert drive.made[0].path == ("both", "l", "sub", "both", "left", "one")


def run_child() -> Json:
    return child(SAYS, output={"state.seen": "seen"})


def test_a_failure_in_a_branch_is_the_failure_of_the_item_around() -> None:
    steps = {
        "each": each("both", on_item_error={"collect_to": "state.seen"}),
        "both": parallel({"l": "one", "r": "two"}),
        "one": node("t.picky", input={"value": path("context.x")}),
        "two": put("state.a", path("context.x")),
    }
    run = finish(plan(steps, SEEN, output=OUTPUT), {"items": ["good", "bad"]})
    (collected,) = output_of(run)["seen"]
    assert (collected["index"], collected["error"]["step_id"]) == (1, "one")
    assert run.scopes[0].layer.whole()["a"] == "good"


def test_branches_of_one_item_hold_one_place_together() -> None:
    steps = {
        "each": each("both", max_active=1),
        "both": parallel({"l": "one", "r": "two"}),
        "one": node(),
        "two": node(),
    }
    drive = begin(plan(steps), {"items": [1, 2]})
    drive.look()
    assert len(drive.pending) == 2
    drive.deliver("c1")
    drive.look()
    assert list(drive.pending) == ["c2"]
    drive.deliver("c2")
    drive.look()
    assert [call.path[1] for call in drive.pending.values()] == ["1", "1"]


def test_a_stored_run_whose_branches_are_others_than_those_of_the_plan_is_refused() -> None:
    drive = begin(SAYS)
    drive.look()
    stored = resealed(dump_run(drive.run).replace(b'["left","right"]', b'["left","wrong"]'))
    drive.run = load_run(stored)
    with pytest.raises(StateCorrupt):
        drive.look()
