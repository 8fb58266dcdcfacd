"""Each kind of step as its author writes it."""

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from wf_core.plan.steps import (
    STEP_RECORDS,
    CollectErrors,
    ForeachStep,
    InterruptStep,
    NodeStep,
    RetryPolicy,
    Step,
)

STEP: TypeAdapter[Any] = TypeAdapter(Step)
SMALLEST: dict[str, dict[str, Any]] = {
    "node": {"use": "a.b", "routes": {}},
    "condition": {"check": {"op": "exists", "path": "state.a"}, "routes": {}},
    "foreach": {"over": "input.items", "as": "item", "routes": {}},
    "parallel": {"branches": {"a": "one"}, "routes": {}},
    "subgraph": {"workflow": {"plan": {}}, "routes": {}},
    "join": {"routes": {}},
    "interrupt": {"kind": "question", "routes": {}},
    "end": {},
}


@pytest.mark.parametrize("kind", STEP_RECORDS)
def test_the_type_says_which_record_a_step_is(kind: str) -> None:
    assert type(STEP.validate_python({"type": kind, **SMALLEST[kind]})) is STEP_RECORDS[kind]


@pytest.mark.parametrize("kind", STEP_RECORDS)
def test_every_step_can_be_described(kind: str) -> None:
    step = STEP.validate_python({"type": kind, "description": "why", **SMALLEST[kind]})
    assert step.description == "why"


def test_left_out_fields_have_the_documented_defaults() -> None:
    retry = RetryPolicy()
    assert (retry.max_attempts, retry.initial_delay_seconds, retry.backoff, retry.max_delay_seconds) == (3, 1, 2, 60)
    assert retry.on == "not_executed"
    loop = ForeachStep.model_validate({"type": "foreach", **SMALLEST["foreach"]})
    assert (loop.mode, loop.max_active, loop.on_item_error) == ("serial", 4, "fail")
    question = InterruptStep.model_validate({"type": "interrupt", **SMALLEST["interrupt"]})
    assert (question.outcomes, question.answered_by) == (["submitted"], "anyone")


def test_failed_items_may_be_collected() -> None:
    document = {"type": "foreach", **SMALLEST["foreach"], "on_item_error": {"collect_to": "state.errors"}}
    assert ForeachStep.model_validate(document).on_item_error == CollectErrors(collect_to="state.errors")


@pytest.mark.parametrize("schema", [True, False, {}, {"type": "object"}])
def test_a_schema_is_an_object_or_a_boolean(schema: object) -> None:
    document = {"type": "interrupt", **SMALLEST["interrupt"], "resume_schema": schema}
    assert InterruptStep.model_validate(document).resume_schema == schema


@pytest.mark.parametrize("seconds", [0, -1, True, "1"])
def test_a_timeout_is_a_positive_number(seconds: object) -> None:
    with pytest.raises(ValidationError):
        NodeStep.model_validate({"type": "node", **SMALLEST["node"], "timeout_seconds": seconds})


@pytest.mark.parametrize(
    "policy", [{"max_attempts": 0}, {"initial_delay_seconds": -1}, {"backoff": 0.5}, {"on": "always"}]
)
def test_a_retry_policy_out_of_range_is_refused(policy: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        RetryPolicy.model_validate(policy)
