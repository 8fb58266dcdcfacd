"""A whole plan, and the schema that is published of it."""

import pytest
from pydantic import ValidationError

from wf_core.plan import NodeStep, WorkflowPlan
from wf_core.schemas import compile_schema

SMALLEST = {"name": "flow", "start": "meet", "steps": {"meet": {"type": "join", "routes": {"ok": "__end__"}}}}


def test_name_start_and_steps_are_enough() -> None:
    plan = WorkflowPlan.model_validate(SMALLEST)
    assert (plan.outcomes, plan.limits.max_steps, plan.output) == (["ok"], 10_000, None)


@pytest.mark.parametrize("key", ["name", "start", "steps"])
def test_none_of_them_may_be_missing(key: str) -> None:
    with pytest.raises(ValidationError, match=key):
        WorkflowPlan.model_validate({name: value for name, value in SMALLEST.items() if name != key})


def test_the_schema_of_the_plan_format_accepts_what_the_records_accept() -> None:
    """`wf schema plan` is what an author's editor checks with."""
    use = {"use": "wf.std.constant", "input": {"value": {"array": [{"path": "input.a", "default": None}]}}}
    step = {
        "type": "node",
        **use,
        "output": {"state.a": {"source": ".", "optional": True}},
        "routes": {"ok": "__end__"},
    }
    document = {**SMALLEST, "steps": {"meet": step}}
    assert isinstance(WorkflowPlan.model_validate(document).steps["meet"], NodeStep)
    schema = compile_schema(WorkflowPlan.model_json_schema())
    assert schema is not None
    assert schema.accepts(document)
    assert not schema.accepts({**document, "strat": "meet"})
