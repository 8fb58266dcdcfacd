"""What the items of a concurrent loop may write."""

from typing import Any

import pytest

from tests.wf_core.validation.plans import Document, ask, child, each, errors, node, only_error, parallel, plan

STATE = {
    "properties": {
        "a": {},
        "list": {"type": "array", "reducer": "append"},
        "sum": {"reducer": "add"},
        "object": {"reducer": "merge_object", "properties": {"inner": {"reducer": "append"}}},
    }
}


def check(*steps: Document, mode: str = "concurrent", **fields: Any) -> list[tuple[str, str]]:
    """Give the errors of a loop whose body has these steps, one after the other."""
    names = ["body", *(f"body{number}" for number in range(2, len(steps) + 1))]
    targets = [*names[1:], "__end__"]
    body = {
        name: {**step, "routes": dict.fromkeys(step["routes"], target)}
        for name, step, target in zip(names, steps, targets, strict=True)
    }
    return errors(plan(state_schema=STATE, start="loop", steps={"loop": each(mode=mode, **fields), **body}))


CONFLICT = "conflicting_concurrent_write"


def test_conflicting_concurrent_write_where_the_reducer_keeps_only_one() -> None:
    assert check(node()) == [(CONFLICT, "/steps/body/output/state.a")]


def test_items_of_a_serial_loop_write_one_after_another() -> None:
    assert check(node(), mode="serial") == []


@pytest.mark.parametrize("path", ["state.list", "state.sum", "state.object", "state.object.inner"])
def test_reducers_that_join_writes_let_items_write_beside_each_other(path: str) -> None:
    assert check(node(output={path: "value"})) == []


@pytest.mark.parametrize(
    ("step", "place"),
    [
        (node(output={}, error_output={"state.a": "x"}), "/steps/body/error_output/state.a"),
        (ask(resume={"state.a": "x"}), "/steps/body/resume/state.a"),
        (child({"plan": plan()}, output={"state.a": "x"}), "/steps/body/output/state.a"),
    ],
)
def test_conflicting_concurrent_write_of_every_kind_of_step(step: Document, place: str) -> None:
    assert check(step) == [(CONFLICT, place)]


def test_conflicting_concurrent_write_to_a_path_and_one_inside_it() -> None:
    found = check(node(output={"state.object": "x"}), node(output={"state.object.inner": "x"}))
    assert found == [(CONFLICT, "/steps/body2/output/state.object.inner")]


def test_a_reducer_belongs_to_its_exact_path() -> None:
    assert check(node(output={"state.object.other": "x"})) == [(CONFLICT, "/steps/body/output/state.object.other")]


def test_conflicting_concurrent_write_from_a_loop_inside() -> None:
    inner = each(**{"as": "cell"}, routes={"loop": "deep", "done": "__end__"})
    steps = {"loop": each(mode="concurrent"), "body": inner, "deep": node()}
    assert errors(plan(start="loop", steps=steps)) == [(CONFLICT, "/steps/deep/output/state.a")]


def test_errors_that_a_loop_inside_collects_are_appended() -> None:
    inner = each(**{"as": "cell"}, routes={"loop": "deep", "done": "__end__"}, on_item_error={"collect_to": "state.a"})
    steps = {"loop": each(mode="concurrent"), "body": inner, "deep": node(output={})}
    assert errors(plan(start="loop", steps=steps)) == []


def test_conflicting_concurrent_write_inside_what_a_loop_inside_collects() -> None:
    inner = each(
        **{"as": "cell"}, routes={"loop": "deep", "done": "__end__"}, on_item_error={"collect_to": "state.object.inner"}
    )
    steps = {"loop": each(mode="concurrent"), "body": inner, "deep": node(output={"state.object": "x"})}
    assert errors(plan(state_schema=STATE, start="loop", steps=steps)) == [
        (CONFLICT, "/steps/body/on_item_error/collect_to")
    ]


def test_a_concurrent_loop_inside_a_serial_one_is_judged_by_itself() -> None:
    inner = each(**{"as": "cell"}, mode="concurrent", routes={"loop": "deep", "done": "tail"})
    steps = {"loop": each(), "body": inner, "deep": node(), "tail": node()}
    assert errors(plan(start="loop", steps=steps)) == [(CONFLICT, "/steps/deep/output/state.a")]


def branches(left: Document, right: Document, **more: Document) -> Document:
    steps = {"both": parallel(l="left", r="right"), "left": left, "right": right, **more}
    return plan(state_schema=STATE, start="both", steps=steps)


def test_conflicting_concurrent_write_of_two_branches() -> None:
    issue = only_error(branches(node(), node()))
    assert (issue.code, issue.path) == (CONFLICT, "/steps/right/output/state.a")
    assert issue.message == "The branch `l` of `both` writes `state.a` and the branch `r` writes `state.a`."


def test_branches_write_paths_of_their_own_beside_each_other() -> None:
    assert errors(branches(node(), node(output={"state.list": "x"}))) == []


@pytest.mark.parametrize("path", ["state.list", "state.sum", "state.object", "state.object.inner"])
def test_reducers_that_join_writes_let_branches_write_beside_each_other(path: str) -> None:
    assert errors(branches(node(output={path: "x"}), node(output={path: "x"}))) == []


def test_one_branch_may_write_a_path_again_and_again() -> None:
    left = node(routes={"ok": "again"})
    assert errors(branches(left, node(output={}), again=node())) == []


@pytest.mark.parametrize(
    ("left", "right"), [("state.object", "state.object.inner"), ("state.object.inner", "state.object")]
)
def test_conflicting_concurrent_write_to_a_path_and_one_inside_it_by_two_branches(left: str, right: str) -> None:
    document = branches(node(output={left: "x"}), node(output={right: "x"}))
    assert errors(document) == [(CONFLICT, f"/steps/right/output/{right}")]


def test_conflicting_concurrent_write_deep_inside_a_branch() -> None:
    inner = each(**{"as": "cell"}, routes={"loop": "deep", "done": "__end__"})
    assert errors(branches(inner, node(), deep=node())) == [(CONFLICT, "/steps/right/output/state.a")]


def test_conflicting_concurrent_write_of_the_branches_of_concurrent_items() -> None:
    steps = {"each": each(mode="concurrent"), "body": parallel(l="left"), "left": node()}
    assert errors(plan(start="each", steps=steps)) == [(CONFLICT, "/steps/left/output/state.a")]
