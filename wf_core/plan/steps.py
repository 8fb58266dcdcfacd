"""The kinds of step, one record each. What they do when a run reaches them is `wf_core.runtime`."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from wf_core.plan.base import STEP_ID_PATTERN, PlanRecord, StepId
from wf_core.plan.bindings import Expression, OutputMap
from wf_core.plan.conditions import Condition
from wf_core.plan.refs import CapabilityRef, WorkflowRef


def _schema_form(value: Any) -> str:
    return "<bool>" if isinstance(value, bool) else "<schema>"


JsonSchema = Annotated[
    Annotated[dict[str, Any], Tag("<schema>")] | Annotated[bool, Tag("<bool>")],
    Discriminator(_schema_form),
]
Routes = dict[str, str]
"""Outcome -> step id, `__end__`, or `__break__`."""


class RetryPolicy(PlanRecord):
    """When a failed attempt is repeated, and how long to wait before it."""

    max_attempts: int = Field(default=3, ge=1)
    """The first attempt included."""
    initial_delay_seconds: float = Field(default=1, ge=0)
    backoff: float = Field(default=2, ge=1)
    """Each delay is the one before times this."""
    max_delay_seconds: float = Field(default=60, ge=0)
    on: Literal["not_executed", "any"] = "not_executed"
    """`any` is the author's word that repeating is safe."""


class NodeStep(PlanRecord):
    """Call a capability."""

    type: Literal["node"]
    use: CapabilityRef
    input: dict[str, Expression] = {}
    output: OutputMap = {}
    error_output: OutputMap = {}
    """Applied instead of `output` when the outcome `error` is routed."""
    routes: Routes
    retry: RetryPolicy | None = None
    timeout_seconds: float | None = Field(default=None, gt=0)
    description: str = ""


class ConditionStep(PlanRecord):
    """Route by a question about input, state and context."""

    type: Literal["condition"]
    check: Condition
    routes: Routes
    description: str = ""


class CollectErrors(PlanRecord):
    """Append the record of each failed item to a list of the state."""

    collect_to: str


def _error_policy_form(value: Any) -> str:
    return "<collect>" if isinstance(value, dict | CollectErrors) else "<word>"


ItemErrorPolicy = Annotated[
    Annotated[Literal["fail", "skip"], Tag("<word>")] | Annotated[CollectErrors, Tag("<collect>")],
    Discriminator(_error_policy_form),
]


class ForeachStep(PlanRecord):
    """Run a body for each element of an array."""

    type: Literal["foreach"]
    over: str
    as_: str = Field(alias="as", pattern=STEP_ID_PATTERN)
    mode: Literal["serial", "concurrent"] = "serial"
    max_active: int = Field(default=4, ge=1)
    """Items that execute at once, concurrent mode only; an item that waits for an answer holds no place."""
    on_item_error: ItemErrorPolicy = "fail"
    routes: Routes
    description: str = ""


class ParallelStep(PlanRecord):
    """Run several branches at once; each sees the state from when the step began, and their writes meet at its end."""

    type: Literal["parallel"]
    branches: dict[StepId, str] = Field(min_length=1)
    """Name -> first step. Writes are committed in this order."""
    routes: Routes
    description: str = ""


class SubgraphStep(PlanRecord):
    """Run another workflow as one step."""

    type: Literal["subgraph"]
    workflow: WorkflowRef
    input: dict[str, Expression] = {}
    output: OutputMap = {}
    routes: Routes
    description: str = ""


class JoinStep(PlanRecord):
    """A named meeting point for several routes; does nothing."""

    type: Literal["join"]
    routes: Routes
    description: str = ""


class InterruptStep(PlanRecord):
    """Stop and ask the outside."""

    type: Literal["interrupt"]
    kind: str = Field(min_length=1)
    request: dict[str, Expression] = {}
    request_schema: JsonSchema = {}
    resume: OutputMap = {}
    resume_schema: JsonSchema = {}
    outcome_schemas: dict[str, JsonSchema] = {}
    """A resume schema of its own for an outcome."""
    outcomes: list[str] = Field(default=["submitted"], min_length=1)
    routes: Routes
    answered_by: Literal["anyone", "person"] = "anyone"
    description: str = ""


class EndStep(PlanRecord):
    """End the workflow with an outcome."""

    type: Literal["end"]
    outcome: str = "ok"
    description: str = ""


AnyStep = NodeStep | ConditionStep | ForeachStep | ParallelStep | SubgraphStep | JoinStep | InterruptStep | EndStep

Step = Annotated[AnyStep, Field(discriminator="type")]

STEP_RECORDS: Mapping[str, type[AnyStep]] = {
    "node": NodeStep,
    "condition": ConditionStep,
    "foreach": ForeachStep,
    "parallel": ParallelStep,
    "subgraph": SubgraphStep,
    "join": JoinStep,
    "interrupt": InterruptStep,
    "end": EndStep,
}
"""The record of each `type`."""
