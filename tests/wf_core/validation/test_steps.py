"""Each kind of step by itself."""

import pytest

from tests.wf_core.validation.plans import Document, ask, condition, each, errors, issues, node, parallel, plan

EXISTS = {"op": "exists", "path": "input.x"}


def check(step: Document) -> list[tuple[str, str]]:
    steps = (
        {"one": step, "body": {"type": "join", "routes": {"ok": "__end__"}}}
        if step["type"] == "foreach"
        else {"one": step}
    )
    return [(code, path.removeprefix("/steps/one")) for code, path in errors(plan(steps=steps))]


@pytest.mark.parametrize(
    ("step", "places"),
    [
        ({**condition(EXISTS), "routes": {"true": "__end__"}}, ["false"]),
        ({"type": "join", "routes": {}}, ["ok"]),
        (each(routes={"loop": "body"}), ["done"]),
        ({**parallel(a="body"), "routes": {}}, ["done"]),
        (ask(outcomes=["yes", "no"], routes={}), ["yes", "no"]),
    ],
)
def test_missing_route(step: Document, places: list[str]) -> None:
    steps = {"one": step, "body": node()}
    found = [issue for issue in issues(plan(steps=steps)) if issue.code == "missing_route"]
    assert [issue.message for issue in found] == [f"The outcome `{name}` has no route." for name in places]
    assert {issue.path for issue in found} == {"/steps/one/routes"}


@pytest.mark.parametrize(
    ("step", "outcome"),
    [
        ({**condition(EXISTS), "routes": {"true": "__end__", "false": "__end__", "maybe": "__end__"}}, "maybe"),
        ({"type": "join", "routes": {"ok": "__end__", "error": "__end__"}}, "error"),
        (each(routes={"loop": "body", "done": "__end__", "error": "__end__"}), "error"),
        ({**parallel(a="__end__"), "routes": {"done": "__end__", "error": "__end__"}}, "error"),
        (ask(routes={"submitted": "__end__", "cancelled": "__end__"}), "cancelled"),
    ],
)
def test_undeclared_outcome(step: Document, outcome: str) -> None:
    assert check(step) == [("undeclared_outcome", f"/routes/{outcome}")]


def test_undeclared_outcome_with_a_schema() -> None:
    assert check(ask(outcome_schemas={"cancelled": True})) == [("undeclared_outcome", "/outcome_schemas/cancelled")]


def test_a_loop_may_route_completed_with_errors() -> None:
    assert check(each(routes={"loop": "body", "done": "__end__", "completed_with_errors": "__end__"})) == []


@pytest.mark.parametrize("alias", ["run_id", "step_id", "attempt", "a b", "1"])
def test_invalid_type_of_an_alias(alias: str) -> None:
    assert check(each(**{"as": alias})) == [("invalid_type", "/as")]


def test_the_list_of_a_loop_and_its_errors_are_checked() -> None:
    assert check(each(over="nowhere", on_item_error={"collect_to": "state.b"})) == [
        ("invalid_path", "/over"),
        ("unknown_state_field", "/on_item_error/collect_to"),
    ]
    assert check(each(on_item_error={"collect_to": "input.a"})) == [("invalid_path", "/on_item_error/collect_to")]


def test_a_loop_does_not_see_its_own_item() -> None:
    assert check(each(over="context.item")) == [("invalid_path", "/over")]


@pytest.mark.parametrize("name", ["", "a b", "1", "a.b"])
def test_invalid_type_of_the_name_of_a_branch(name: str) -> None:
    assert check(parallel(**{name: "__end__"})) == [("invalid_type", f"/branches/{name}")]


def test_a_parallel_step_has_a_branch() -> None:
    assert check(parallel()) == [("invalid_type", "/branches")]
