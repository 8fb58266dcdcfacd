"""Where routes lead."""

import pytest

from tests.wf_core.validation.plans import Document, condition, each, errors, node, only_error, parallel, plan, warnings
from wf_core.validation.graph import MAX_LOOPS

JOIN: Document = {"type": "join", "routes": {"ok": "__end__"}}


def test_unknown_start_names_the_nearest_step() -> None:
    issue = only_error(plan(start="oen"))
    assert (issue.code, issue.path, issue.hint) == ("unknown_start", "/start", "Did you mean `one`?")


def test_unknown_route_target_names_the_nearest_step() -> None:
    issue = only_error(plan(steps={"one": node(routes={"ok": "__edn__"})}))
    assert (issue.code, issue.path) == ("unknown_route_target", "/steps/one/routes/ok")
    assert issue.hint == "Did you mean `__end__`?"


def loop(body: Document, **fields: object) -> list[tuple[str, str]]:
    """Give the errors of a plan with a loop, its body, a step `after` and an end step `stop` that it could go to."""
    steps = {
        "loop": each(**{"routes": {"loop": "body", "done": "after"}, **fields}),
        "body": body,
        "after": {"type": "join", "routes": {"ok": "__end__"}},
        "stop": {"type": "end"},
    }
    return errors(plan(start="loop", steps=steps))


def to(target: str) -> Document:
    return {"type": "join", "routes": {"ok": target}}


def test_break_leaves_a_serial_loop() -> None:
    assert loop(to("__break__")) == []


def test_unknown_route_target_break_in_a_concurrent_loop() -> None:
    assert loop(to("__break__"), mode="concurrent") == [("unknown_route_target", "/steps/body/routes/ok")]


def test_unknown_route_target_break_outside_of_a_loop() -> None:
    assert errors(plan(steps={"one": to("__break__")})) == [("unknown_route_target", "/steps/one/routes/ok")]
    assert loop(to("__end__"), routes={"loop": "body", "done": "__break__"}) == [
        ("unknown_route_target", "/steps/loop/routes/done")
    ]


@pytest.mark.parametrize("target", ["__end__", "__break__"])
def test_unknown_route_target_of_a_loop_without_a_body(target: str) -> None:
    assert errors(plan(steps={"one": each(routes={"loop": target, "done": "__end__"})})) == [
        ("unknown_route_target", "/steps/one/routes/loop")
    ]


@pytest.mark.parametrize("target", ["after", "loop"])
def test_loop_body_escape(target: str) -> None:
    assert loop(to(target)) == [("loop_body_escape", "/steps/body/routes/ok")]


def test_loop_body_escape_where_another_route_leads_into_the_body() -> None:
    assert loop(to("__end__"), routes={"loop": "body", "done": "body"}) == [
        ("loop_body_escape", "/steps/loop/routes/loop")
    ]


def test_end_in_loop_body() -> None:
    assert loop(to("stop")) == [("end_in_loop_body", "/steps/stop")]


def test_undeclared_workflow_outcome_of_an_end_step() -> None:
    assert errors(plan(start="stop", steps={"stop": {"type": "end", "outcome": "gone"}})) == [
        ("undeclared_workflow_outcome", "/steps/stop/outcome")
    ]


def test_undeclared_workflow_outcome_of_a_plan_that_just_ends() -> None:
    assert errors(plan(outcomes=["fine"])) == [("undeclared_workflow_outcome", "/steps/one/routes/ok")]


def test_an_item_that_ends_gives_the_workflow_no_outcome() -> None:
    steps = {
        "loop": each(routes={"loop": "body", "done": "stop"}),
        "body": JOIN,
        "stop": {"type": "end", "outcome": "fine"},
    }
    assert errors(plan(outcomes=["fine"], start="loop", steps=steps)) == []


def test_unreachable_step_is_a_warning() -> None:
    document = plan(steps={"one": node(), "lost": JOIN})
    assert warnings(document) == [("unreachable_step", "/steps/lost")]
    assert errors(document) == []


def test_no_path_to_end_is_a_warning() -> None:
    question = condition({"op": "exists", "path": "state.a"})
    steps = {"one": {**question, "routes": {"true": "two", "false": "__end__"}}, "two": to("three"), "three": to("two")}
    document = plan(steps=steps)
    assert warnings(document) == [("no_path_to_end", "/steps/two"), ("no_path_to_end", "/steps/three")]
    assert errors(document) == []


def test_dead_ends_are_not_guessed_at_where_a_step_cannot_be_read() -> None:
    assert warnings(plan(steps={"one": node(), "lost": JOIN, "broken": {}})) == []


def test_invalid_type_of_loops_that_nest_too_deeply() -> None:
    def steps(levels: int) -> Document:
        loops = {f"l{index}": each(routes={"loop": f"l{index + 1}", "done": "__end__"}) for index in range(levels)}
        return {**loops, f"l{levels}": JOIN}

    assert errors(plan(start="l0", steps=steps(MAX_LOOPS))) == []
    assert errors(plan(start="l0", steps=steps(MAX_LOOPS + 1))) == [("invalid_type", f"/steps/l{MAX_LOOPS}")]


def branches(left: Document, right: Document, **more: Document) -> list[tuple[str, str]]:
    """Give the errors of a plan with a parallel step of two branches, and of a step `stop` that they could go to."""
    steps = {"both": parallel(l="left", r="right"), "left": left, "right": right, "stop": {"type": "end"}, **more}
    return errors(plan(start="both", steps=steps))


def test_branches_end_with_an_end() -> None:
    assert branches(to("__end__"), to("__end__")) == []


def test_a_branch_may_be_without_steps() -> None:
    assert errors(plan(start="both", steps={"both": parallel(l="__end__", r="__end__")})) == []


def test_loop_body_escape_from_one_branch_into_another() -> None:
    assert branches(to("right"), to("__end__")) == [("loop_body_escape", "/steps/both/branches/r")]
    assert branches(to("more"), to("more"), more=JOIN) == [("loop_body_escape", "/steps/right/routes/ok")]


def test_loop_body_escape_of_two_branches_that_begin_at_one_step() -> None:
    steps = {"both": parallel(l="one", r="one"), "one": JOIN}
    assert errors(plan(start="both", steps=steps)) == [("loop_body_escape", "/steps/both/branches/r")]


@pytest.mark.parametrize("target", ["after", "both"])
def test_loop_body_escape_from_a_branch(target: str) -> None:
    steps = {"both": {**parallel(l="left"), "routes": {"done": "after"}}, "left": to(target), "after": JOIN}
    assert errors(plan(start="both", steps=steps)) == [("loop_body_escape", "/steps/left/routes/ok")]


def test_loop_body_escape_where_a_branch_begins_at_a_step_outside() -> None:
    steps = {"first": to("both"), "both": parallel(l="first")}
    assert errors(plan(start="first", steps=steps)) == [("loop_body_escape", "/steps/both/branches/l")]


def test_end_in_loop_body_in_a_branch() -> None:
    assert branches(to("stop"), to("__end__")) == [("end_in_loop_body", "/steps/stop")]


def test_unknown_route_target_break_in_a_branch() -> None:
    assert branches(to("__break__"), to("__end__")) == [("unknown_route_target", "/steps/left/routes/ok")]
    steps = {"each": each(), "body": parallel(l="left"), "left": to("__break__")}
    assert errors(plan(start="each", steps=steps)) == [("unknown_route_target", "/steps/left/routes/ok")]
    assert errors(plan(steps={"one": parallel(l="__break__")})) == [("unknown_route_target", "/steps/one/branches/l")]


def test_break_leaves_a_serial_loop_inside_a_branch() -> None:
    steps = {"both": parallel(l="each"), "each": each(), "body": to("__break__")}
    assert errors(plan(start="both", steps=steps)) == []


def test_break_after_a_parallel_step_leaves_the_loop_around_it() -> None:
    body = {**parallel(l="left"), "routes": {"done": "__break__"}}
    assert errors(plan(start="each", steps={"each": each(), "body": body, "left": JOIN})) == []


def test_unknown_route_target_of_a_branch_names_the_nearest_step() -> None:
    issue = only_error(plan(start="both", steps={"both": parallel(l="lefd"), "left": JOIN}))
    assert (issue.code, issue.path) == ("unknown_route_target", "/steps/both/branches/l")
    assert issue.hint == "Did you mean `left`?"


def test_a_branch_gives_the_workflow_no_outcome() -> None:
    both = {**parallel(l="left"), "routes": {"done": "stop"}}
    steps = {"both": both, "left": JOIN, "stop": {"type": "end", "outcome": "fine"}}
    assert errors(plan(outcomes=["fine"], start="both", steps=steps)) == []


def test_steps_of_branches_are_reachable_and_dead_ends_in_them_are_found() -> None:
    steps = {"both": parallel(l="left", r="right"), "left": node(), "right": to("more"), "more": to("right")}
    assert warnings(plan(start="both", steps=steps)) == [
        ("no_path_to_end", "/steps/right"),
        ("no_path_to_end", "/steps/more"),
    ]


def test_branches_that_nest_too_deeply_are_reported_once_for_their_step() -> None:
    steps = {f"l{level}": parallel(a=f"l{level + 1}", b="__end__") for level in range(MAX_LOOPS)}
    steps |= {f"l{MAX_LOOPS}": parallel(a="x", b="y"), "x": JOIN, "y": JOIN}
    assert errors(plan(start="l0", steps=steps)) == [("invalid_type", f"/steps/l{MAX_LOOPS}")]
