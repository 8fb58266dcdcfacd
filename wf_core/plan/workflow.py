"""A workflow as its author wrote it."""

from typing import Annotated

from pydantic import Field

from wf_core.plan.base import PlanRecord, StepId
from wf_core.plan.bindings import Expression
from wf_core.plan.steps import JsonSchema, Step

END = "__end__"
"""Ends the frame: the workflow with outcome `ok`, or one item of a loop."""

BREAK = "__break__"
"""Leaves a serial loop by `done` after this item."""


class Limits(PlanRecord):
    """Bounds on a run."""

    max_steps: int = Field(default=10_000, ge=1)
    """Executed steps of a run, loops and children included; a retry is not a step."""


class WorkflowPlan(PlanRecord):
    """A typed graph of steps. Read one with `wf_core.validation.read_plan`, which reports every issue at once."""

    name: str = Field(min_length=1)
    description: str = ""
    input_schema: JsonSchema = {}
    state_schema: JsonSchema = {}
    output_schema: JsonSchema = {}
    initial_state: dict[str, Expression] = {}
    """State path -> expression over `input`."""
    outcomes: Annotated[list[str], Field(min_length=1)] = ["ok"]
    start: str
    steps: dict[StepId, Step]
    output: dict[str, Expression] | None = None
    """Local target -> expression. None copies every property of `output_schema` that state has at top level."""
    limits: Limits = Limits()
