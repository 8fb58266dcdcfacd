"""Types that can never meet are found before a run, where both schemas say what they are."""

from typing import Any

import pytest

from tests.wf_core.validation.plans import errors, node, plan
from wf_core.calls.contract import Contract

TAKES_TEXT = Contract(
    input_schema={"properties": {"value": {"type": "string"}}},
    output_schema={"properties": {"value": {"type": "string"}}},
)
TAKES_NUMBER = Contract(
    input_schema={"properties": {"value": {"type": "number"}}},
    output_schema={"properties": {"value": {"type": "number"}}},
)
INPUT = {"properties": {"count": {"type": "integer"}, "name": {"type": ["string", "null"]}, "any": {}}}


def faults(step: dict[str, Any], contract: Contract, **more: Any) -> list[tuple[str, str]]:
    found = errors(plan(steps={"one": step}, input_schema=INPUT, **more), contracts={"ops.make": contract})
    return [(code, path.removeprefix("/steps/one")) for code, path in found]


@pytest.mark.parametrize(
    "expression",
    [
        {"value": 5},
        {"value": None},
        {"value": True},
        {"object": {}},
        {"array": []},
        {"path": "input.count"},
        {"path": "input.count", "default": 0},
    ],
)
def test_an_expression_that_can_never_be_what_the_input_takes(expression: dict[str, Any]) -> None:
    assert faults(node(input={"value": expression}), TAKES_TEXT) == [("invalid_type", "/input/value")]


@pytest.mark.parametrize(
    "expression",
    [
        {"value": "text"},
        {"template": "{{input.count}}"},
        {"path": "input.name"},
        {"path": "input.any"},
        {"path": "input.count", "default": "none"},
        {"path": "input.undeclared"},
        {"path": "context.run_id"},
    ],
)
def test_an_expression_that_may_be_what_the_input_takes(expression: dict[str, Any]) -> None:
    assert faults(node(input={"value": expression}), TAKES_TEXT) == []


@pytest.mark.parametrize("expression", [{"path": "input.count"}, {"value": 1}, {"value": 1.0}, {"value": 1.5}])
def test_an_integer_is_a_number(expression: dict[str, Any]) -> None:
    assert faults(node(input={"value": expression}), TAKES_NUMBER) == []


def test_a_result_that_can_never_be_what_the_state_takes() -> None:
    state = {"properties": {"count": {"type": "integer"}, "list": {"type": "array", "reducer": "append"}, "any": {}}}
    step = node(input={}, output={"state.count": "value", "state.list": "value", "state.any": "value"})
    assert faults(step, TAKES_TEXT, state_schema=state) == [("invalid_type", "/output/state.count")]
    assert faults(step, TAKES_NUMBER, state_schema=state) == []


def test_a_child_workflow_is_judged_as_a_capability_is() -> None:
    child = {
        "name": "child",
        "input_schema": {"properties": {"value": {"type": "string"}}},
        "start": "done",
        "steps": {"done": {"type": "end"}},
    }
    step = {
        "type": "subgraph",
        "workflow": {"plan": child},
        "input": {"value": {"path": "input.count"}},
        "routes": {"ok": "__end__"},
    }
    assert faults(step, TAKES_TEXT) == [("invalid_type", "/input/value")]
