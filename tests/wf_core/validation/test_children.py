"""Workflows that run as steps of others."""

from typing import Any

from tests.wf_core.validation.plans import Document, child, errors, node, only_error, plan
from wf_core.calls.contract import Contract
from wf_core.runtime import compile_program
from wf_core.validation.children import MAX_WORKFLOWS, Absent, Children

INNER = plan(
    name="inner",
    input_schema={"properties": {"n": {}}, "required": ["n"], "additionalProperties": False},
    output_schema={"properties": {"a": {}}, "additionalProperties": False},
    outcomes=["ok", "late"],
)
SAVED: Document = {"artifact_id": "inner", "version": 1}
INPUT: Document = {"n": {"value": 1}}
ROUTES: Document = {"ok": "__end__", "late": "__end__"}


def check(step: Document, children: Children | None = None) -> list[tuple[str, str]]:
    found = errors(plan(steps={"one": step}), children=children)
    return [(code, path.removeprefix("/steps/one")) for code, path in found]


def calls(*versions: tuple[str, int]) -> Document:
    """Give a plan that runs saved ones."""
    references = [{"artifact_id": artifact_id, "version": number} for artifact_id, number in versions]
    return plan(steps={f"s{index}": child(reference) for index, reference in enumerate(references)})


def test_a_child_in_place_and_a_saved_one_are_checked_alike() -> None:
    for workflow in ({"plan": INNER}, SAVED):
        assert check(child(workflow, input=INPUT, routes=ROUTES), {("inner", 1): INNER}) == []
        wrong: Any = child(
            workflow, input={"m": {"value": 1}}, output={"state.a": "b"}, routes={"ok": "__end__", "no": "__end__"}
        )
        assert set(check(wrong, {("inner", 1): INNER})) == {
            ("unknown_input_field", "/input/m"),
            ("missing_capability_input", ""),
            ("unknown_output_field", "/output/state.a"),
            ("undeclared_outcome", "/routes/no"),
            ("missing_route", "/routes"),
        }


def test_unknown_child_artifact_says_what_there_is() -> None:
    document = plan(steps={"one": child({"artifact_id": "inner", "version": 3})})
    issue = only_error(document, children={("inner", 3): Absent("It has 1, 2.")})
    assert (issue.code, issue.path, issue.hint) == ("unknown_child_artifact", "/steps/one/workflow", "It has 1, 2.")
    assert only_error(document, children={}).code == "unknown_child_artifact"


def test_unknown_child_artifact_of_a_child() -> None:
    children = {("a", 1): calls(("b", 1)), ("b", 1): plan(steps={"one": child({"plan": calls(("c", 1))})})}
    assert check(child({"artifact_id": "a", "version": 1}), children) == [
        ("unknown_child_artifact", "/workflow/version")
    ]


def test_children_are_not_looked_for_where_none_are_known() -> None:
    assert check(child(SAVED)) == []


def test_subgraph_cycle() -> None:
    children = {("a", 1): calls(("b", 1)), ("b", 1): calls(("c", 1), ("a", 1)), ("c", 1): INNER}
    issue = only_error(plan(steps={"one": child({"artifact_id": "b", "version": 1})}), children=children)
    assert (issue.code, issue.path) == ("subgraph_cycle", "/steps/one/workflow")
    assert "b 1 -> a 1 -> b 1" in issue.message


def test_subgraph_cycle_that_begins_below() -> None:
    children = {("a", 1): calls(("b", 1)), ("b", 1): calls(("b", 1))}
    assert check(child({"artifact_id": "a", "version": 1}), children) == [("subgraph_cycle", "/workflow")]


def test_a_child_that_is_run_twice_is_no_cycle() -> None:
    children = {("a", 1): calls(("b", 1), ("c", 1)), ("b", 1): calls(("c", 1)), ("c", 1): node()}
    assert check(child({"artifact_id": "a", "version": 1}), children) == []


def test_invalid_type_of_workflows_that_run_inside_one_another_too_deeply() -> None:
    """The deepest that is allowed compiles; a far longer chain is seen through all the same."""
    children = {("a", number): calls(("a", number + 1)) for number in range(1, 2000)} | {("a", 2000): plan()}
    deepest = 2000 - MAX_WORKFLOWS + 1
    document = plan(steps={"one": child({"artifact_id": "a", "version": deepest})})
    assert errors(document, children=children) == []
    compile_program(document, contracts={"ops.make": Contract()}, children=children)
    for version in (1, deepest - 1):
        assert check(child({"artifact_id": "a", "version": version}), children) == [("invalid_type", "/workflow")]


def test_plans_in_place_count_where_saved_ones_run_inside_one_another() -> None:
    children = {("a", 1): plan(steps={"one": child({"plan": calls(("b", 1))})})}
    children |= {("b", number): calls(("b", number + 1)) for number in range(1, MAX_WORKFLOWS)}
    children[("b", MAX_WORKFLOWS)] = plan()
    assert check(child({"artifact_id": "b", "version": 3}), children) == []
    assert check(child({"artifact_id": "a", "version": 1}), children) == [("invalid_type", "/workflow")]


def test_children_that_run_the_same_ones_many_times_are_looked_through_once() -> None:
    """Followed along every way, thirty levels of two references each would take a thousand million looks."""
    children = {("a", number): calls(("a", number + 1), ("a", number + 1)) for number in range(1, 30)}
    children[("a", 30)] = plan()
    assert check(child({"artifact_id": "a", "version": 1}), children) == []


def test_a_saved_plan_that_cannot_be_read_promises_nothing() -> None:
    children: Children = {("inner", 1): {"outcomes": 5, "steps": {"one": 5, "two": {"workflow": 5}}}}
    assert check(child(SAVED, routes={"any": "__end__"}), children) == []
