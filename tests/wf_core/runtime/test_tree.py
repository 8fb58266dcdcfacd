"""Who executes, who waits for a place, what a removed frame takes with it, and what is derived after a load."""

from typing import Any

import pytest

from tests.wf_core.kernel import LIST, Driver, ask, begin, child, each, error_of, loop, node, parallel, path, plan, put
from wf_core.runtime import Stopped, Waiting
from wf_core.runtime.tree import descend
from wf_core.state import Looping

RELOADING = pytest.mark.parametrize("reloading", [False, True])


def asking(width: int, then: str = "call") -> dict[str, Any]:
    """Write a loop whose items ask, and call when they were answered."""
    steps = {
        "each": each("ask", max_active=width),
        "ask": ask(then, request={"x": path("context.x")}),
        "call": node(input={"value": path("context.x")}, output={"state.seen": "value"}),
    }
    return plan(steps, {"seen": LIST}, output={"seen": path("state.seen")})


def executing(drive: Driver) -> list[Any]:
    return [call.input["value"] for call in drive.pending.values()]


@RELOADING
def test_an_item_that_waits_for_an_answer_holds_no_place(reloading: bool) -> None:
    drive = begin(asking(1), {"items": ["a", "b", "c"]}, reloading=reloading)
    assert drive.look() == Stopped("interrupted")
    assert [one.payload for one in drive.run.interrupts.values()] == [{"x": "a"}, {"x": "b"}, {"x": "c"}]


@RELOADING
def test_answers_that_come_while_every_place_is_taken_wait_in_the_order_of_the_answers(reloading: bool) -> None:
    drive = begin(asking(1), {"items": ["a", "b", "c"]}, reloading=reloading)
    drive.look()
    order: list[Any] = []
    for interrupt in ("int_3", "int_1", "int_2"):
        drive.answer(interrupt_id=interrupt)
    while not isinstance(drive.look(), Stopped):
        order += executing(drive)
        drive.deliver()
    assert order == ["c", "a", "b"]
    assert drive.most_pending == 1
    assert drive.run.output == {"seen": ["a", "b", "c"]}


@RELOADING
def test_an_answered_item_comes_before_one_that_has_not_begun(reloading: bool) -> None:
    steps = {
        "each": each("which", max_active=1),
        "which": {
            "type": "condition",
            "check": {"op": "eq", "left": path("context.x"), "right": {"value": "ask"}},
            "routes": {"true": "ask", "false": "call"},
        },
        "ask": ask("call"),
        "call": node(input={"value": path("context.x")}),
    }
    drive = begin(plan(steps), {"items": ["ask", "b", "c"]}, reloading=reloading)
    drive.look()
    assert executing(drive) == ["b"]
    drive.answer()
    drive.deliver()
    drive.look()
    assert executing(drive) == ["ask"]


def test_an_answer_does_not_overtake_those_that_wait_for_a_place_that_has_just_become_free() -> None:
    drive = begin(asking(1), {"items": ["a", "b", "c"]})
    drive.look()
    drive.answer(interrupt_id="int_1")
    drive.answer(interrupt_id="int_2")
    drive.look()
    drive.deliver()
    drive.answer(interrupt_id="int_3")
    drive.look()
    assert executing(drive) == ["b"]


def nested(outer: int, inner: int, then: str = "call") -> dict[str, Any]:
    """Write a loop of loops whose items ask if they are `?`, and call when they are not or were answered."""
    steps = {
        "outer": {**each("inner", max_active=outer), "as": "row"},
        "inner": each("which", over="context.row", max_active=inner),
        "which": {
            "type": "condition",
            "check": {"op": "matches", "left": path("context.x"), "right": {"value": "^[?]"}},
            "routes": {"true": "ask", "false": "call"},
        },
        "ask": ask(then),
        "call": node(input={"value": path("context.x")}, output={"state.seen": "value"}),
    }
    return plan(steps, {"seen": LIST}, output={"seen": path("state.seen")})


@RELOADING
def test_an_answer_deep_inside_an_item_waits_for_a_place_of_the_outer_loop(reloading: bool) -> None:
    drive = begin(nested(1, 4), {"items": [["?1", "?2"], ["b"]]}, reloading=reloading)
    drive.look()
    assert executing(drive) == ["b"]
    drive.answer(interrupt_id="int_1")
    drive.answer(interrupt_id="int_2")
    assert isinstance(drive.look(), Waiting)
    assert executing(drive) == ["b"]
    drive.deliver()
    drive.look()
    assert executing(drive) == ["?1", "?2"]
    assert drive.go().output == {"seen": ["?1", "?2", "b"]}


@RELOADING
def test_an_item_that_has_its_place_again_goes_on_in_all_its_parts(reloading: bool) -> None:
    """A part that was answered later does not wait for another place, and another item waits for the one."""
    drive = begin(nested(1, 4), {"items": [["?1", "?2"], ["?3"], ["b"]]}, reloading=reloading)
    drive.look()
    drive.answer(interrupt_id="int_1")
    drive.answer(interrupt_id="int_3")
    drive.deliver()
    drive.look()
    assert executing(drive) == ["?1"]
    drive.answer(interrupt_id="int_2")
    drive.look()
    assert executing(drive) == ["?1", "?2"]
    assert drive.go().output == {"seen": ["?1", "?2", "?3", "b"]}


@RELOADING
def test_an_item_that_ends_with_its_answer_does_not_give_its_loop_a_place_that_it_has_not(reloading: bool) -> None:
    """The inner loop could start its next item, but the outer one executes another item already."""
    drive = begin(nested(1, 1, then="__end__"), {"items": [["?1", "?2"], ["b"]]}, reloading=reloading)
    drive.look()
    assert executing(drive) == ["b"]
    drive.answer(interrupt_id="int_1")
    drive.answer(interrupt_id="int_2")
    drive.look()
    outer, inner = drive.run.frames[0], drive.run.frames[1]
    assert isinstance(outer.activity, Looping)
    assert outer.activity.parked == {0: [inner.id]}
    assert drive.go().output == {"seen": ["b"]}


@RELOADING
def test_an_item_whose_answer_fails_waits_for_a_place_before_its_loop_goes_on(reloading: bool) -> None:
    document = nested(1, 1)
    document["steps"]["ask"]["resume"] = {"state.said": "said"}
    document["state_schema"]["properties"]["said"] = {"reducer": "max"}
    document["steps"]["inner"]["on_item_error"] = "skip"
    document["steps"]["inner"]["max_active"] = 1
    serial = {**document, "steps": {**document["steps"], "inner": {**document["steps"]["inner"], "mode": "serial"}}}
    drive = begin(serial, {"items": [["?1", "c"], ["b"]]}, reloading=reloading)
    drive.look()
    assert executing(drive) == ["b"]
    drive.answer({}, "int_1")
    drive.look()
    assert executing(drive) == ["b"]
    drive.deliver()
    drive.look()
    assert executing(drive) == ["c"]


@RELOADING
def test_a_child_workflow_inside_an_item_waits_for_the_items_place(reloading: bool) -> None:
    inner = plan({"ask": ask(resume={"state.said": "."})}, {"said": {}}, output={"said": path("state.said")})
    steps = {
        "each": each("which", max_active=1),
        "which": {
            "type": "condition",
            "check": {"op": "eq", "left": path("context.x"), "right": {"value": "ask"}},
            "routes": {"true": "sub", "false": "call"},
        },
        "sub": child(inner, "call"),
        "call": node(input={"value": path("context.x")}),
    }
    drive = begin(plan(steps), {"items": ["ask", "b"]}, reloading=reloading)
    drive.look()
    drive.answer("yes")
    drive.look()
    assert executing(drive) == ["b"]
    drive.deliver()
    drive.look()
    assert executing(drive) == ["ask"]


def test_a_removed_frame_takes_its_wait_with_it() -> None:
    steps = {
        "rows": {**each("row", on_item_error="skip"), "as": "row"},
        "row": each("which", over="context.row"),
        "which": {
            "type": "condition",
            "check": {"op": "eq", "left": path("context.x"), "right": {"value": "nap"}},
            "routes": {"true": "nap", "false": "call"},
        },
        "nap": node("t.sleep", input={"seconds": {"value": 9}}),
        "call": node("t.picky", input={"value": path("context.x")}),
    }
    drive = begin(plan(steps), {"items": [["nap", "bad"], ["b"]]})
    drive.look()
    drive.deliver("c2")
    drive.look()
    assert executing(drive) == ["b"]
    assert drive.look() == Waiting(None)


@RELOADING
def test_a_serial_item_is_answered_before_the_next_one_begins(reloading: bool) -> None:
    steps = {"each": loop("ask"), "ask": ask("note", request={"x": path("context.x")})}
    steps["note"] = put("state.seen", path("context.x"))
    drive = begin(
        plan(steps, {"seen": LIST}, output={"seen": path("state.seen")}), {"items": [1, 2]}, reloading=reloading
    )
    for x in (1, 2):
        drive.go()
        assert [one.payload for one in drive.run.interrupts.values()] == [{"x": x}]
        drive.answer()
    assert drive.go().output == {"seen": [1, 2]}


def test_nobody_is_awake_while_every_item_waits_for_an_answer() -> None:
    drive = begin(asking(4), {"items": ["a", "b"]})
    drive.look()
    assert [(frame.awake, frame.busy) for frame in drive.run.frames.values()] == [(False, 0)] * 3


def test_frames_may_nest_deeper_than_pythons_own_stack() -> None:
    """Loops inside loops inside children: cancelling and giving up go through all of them."""
    document = plan({"say": node("t.breaks")})
    for _ in range(16):
        loops = {f"l{level}": loop(f"l{level + 1}") for level in range(64)}
        document = plan({**loops, "l64": child(document, input={"items": path("input.items")})})
    drive = begin(document, {"items": [1]})
    assert error_of(drive.go()) == ("capability_error", "say")
    cancelled = begin(document, {"items": [1]})
    while not cancelled.pending:
        cancelled.look()
    assert len(cancelled.run.frames) > 1_000
    cancelled.cancel(None)
    assert len(cancelled.trace) == 1


def test_what_is_below_a_frame_comes_after_it_and_in_the_order_of_the_items() -> None:
    steps = {"each": each("inner"), "inner": parallel({"l": "ask", "r": "ask_too"}), "ask": ask(), "ask_too": ask()}
    drive = begin(plan(steps), {"items": [1, 2]})
    drive.look()
    paths = [(*frame.prefix, frame.step_id) for frame in descend(drive.run, drive.run.frames[0])]
    assert paths == [
        ("each",),
        ("each", "0", "inner"),
        ("each", "0", "inner", "l", "ask"),
        ("each", "0", "inner", "r", "ask_too"),
        ("each", "1", "inner"),
        ("each", "1", "inner", "l", "ask"),
        ("each", "1", "inner", "r", "ask_too"),
    ]
