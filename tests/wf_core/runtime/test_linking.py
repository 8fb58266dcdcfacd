"""What is derived after a load is what it was, and a run of another plan is seen for what it is."""

from typing import Any

import pytest

from tests.wf_core.kernel import LIST, Driver, ask, begin, child, each, node, path, plan, put, value
from tests.wf_core.runtime.test_tree import asking, nested
from wf_core.codec import dump_run, load_run
from wf_core.errors import StateCorrupt
from wf_core.runtime import Stopped, next_work
from wf_core.runtime.linking import link
from wf_core.state import Delayed, Frame


def interrupted() -> Driver:
    drive = begin(nested(2, 2), {"items": [["?1", "b"], ["?2"]]})
    drive.look()
    drive.deliver()
    drive.look()
    return drive


def derived(frames: dict[int, Frame]) -> list[Any]:
    return [(one.prefix, one.awake, one.parked, one.busy, one.layer.whole()) for one in frames.values()]


def test_what_is_not_stored_is_derived_as_it_was() -> None:
    drive = interrupted()
    loaded = load_run(dump_run(drive.run))
    link(loaded, drive.program)
    assert derived(loaded.frames) == derived(drive.run.frames)
    assert loaded == drive.run


def test_another_compilation_of_the_plan_may_take_a_run_over_without_a_load() -> None:
    """Lists that the former layers owned are not appended to in place: the layers below may hold them."""
    steps = {
        "first": put("state.seen", {"value": 0}, "each"),
        "each": each("one"),
        "one": put("state.seen", path("context.x"), "look"),
        "look": node(input={"seen": path("state.seen")}, to="two"),
        "two": put("state.seen", path("context.x"), "look2"),
        "look2": node(input={"seen": path("state.seen")}),
    }
    document = plan(steps, {"seen": LIST}, output={"seen": path("state.seen")})
    drive = begin(document, {"items": ["a", "b"]})
    while not isinstance(drive.look(), Stopped):
        drive.deliver()
        drive.program = begin(document).program
    assert drive.run.output == {"seen": [0, "a", "a", "b", "b"]}


def test_a_delayed_frame_keeps_its_time() -> None:
    drive = begin(plan({"nap": node("t.sleep", input={"seconds": {"value": 60}})}), reloading=True)
    first, second = drive.look(), drive.look()
    assert first == second
    assert isinstance(drive.run.frames[0].activity, Delayed)


@pytest.mark.parametrize(
    "document",
    [
        plan({"other": node(input={"value": {"value": 1}})}),
        plan({"call": ask()}),
        plan({"call": {"type": "join", "routes": {"ok": "__end__"}}}),
    ],
)
def test_a_run_of_another_plan_is_refused_as_damaged(document: dict[str, Any]) -> None:
    drive = begin(plan({"call": node(input={"value": {"value": 1}})}))
    drive.look()
    stranger = load_run(dump_run(drive.run))
    with pytest.raises(StateCorrupt):
        next_work(begin(document).program, stranger, now=drive.now)


def test_writes_that_do_not_fit_the_plan_are_refused_as_damaged() -> None:
    drive = begin(asking(2), {"items": ["a"]})
    drive.look()
    drive.answer()
    drive.run.lineages[1].layer.log = [(("seen",), "add", "no number")]
    with pytest.raises(StateCorrupt):
        next_work(drive.program, load_run(dump_run(drive.run)), now=drive.now)


def changed(document: Any, change: Any) -> Any:
    """Stop a run before its first answer, change its state, and load it."""
    drive = begin(document)
    drive.look()
    change(drive.run)
    drive.run = load_run(dump_run(drive.run))
    return drive


def test_a_call_of_another_capability_than_its_step_names_is_refused() -> None:
    def other(run: Any) -> None:
        run.calls["c1"].capability = "files.delete"

    with pytest.raises(StateCorrupt):
        changed(plan({"call": node()}), other).look()


def test_a_delayed_call_of_another_capability_is_refused() -> None:
    def other(run: Any) -> None:
        run.frames[0].activity.call.capability = "files.delete"

    with pytest.raises(StateCorrupt):
        changed(plan({"nap": node("t.sleep", input={"seconds": value(5)})}), other).look()


def test_a_question_with_an_outcome_that_leads_nowhere_is_refused() -> None:
    def other(run: Any) -> None:
        run.interrupts["int_1"].outcomes = ("elsewhere",)

    with pytest.raises(StateCorrupt):
        changed(plan({"ask": ask()}), other).answer(outcome="elsewhere")


def test_a_child_at_a_step_that_runs_none_is_refused() -> None:
    def other(run: Any) -> None:
        run.frames[0].step_id = "say"
        run.scopes[1].program = ("say",)

    document = plan({"sub": child(plan({"ask": ask()}), "say"), "say": node()})
    with pytest.raises(StateCorrupt):
        changed(document, other).answer()
