"""A plan as far as it can be read: each step by itself, so that a fault in one hides nothing of the others."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from wf_core.plan import BREAK, END, WorkflowPlan
from wf_core.plan.base import STEP_ID_PATTERN
from wf_core.plan.steps import STEP_RECORDS, AnyStep
from wf_core.schemas.engine import shown
from wf_core.validation.report import Findings
from wf_core.validation.shapes import described, read_record

_PLAN_STAND_INS: Mapping[str, Any] = {
    "name": "unnamed",
    "description": "",
    "input_schema": {},
    "state_schema": {},
    "output_schema": {},
    "initial_state": {},
    "outcomes": ["ok"],
    "start": "",
    "output": None,
    "limits": {},
}

_STEP_STAND_INS: Mapping[str, Any] = {
    "description": "",
    "kind": "unnamed",
    "answered_by": "anyone",
    "request_schema": {},
    "resume_schema": {},
    "retry": None,
    "timeout_seconds": None,
    "max_active": 1,
}
"""Fields whose fault leaves the meaning of the others alone."""

_STEP_ID = re.compile(STEP_ID_PATTERN)


@dataclass(frozen=True, slots=True)
class Draft:
    """What the rules look at."""

    head: WorkflowPlan
    """The plan without its steps; `unread` fields hold stand-ins."""
    unread: frozenset[str]
    """Fields of the plan whose value could not be read."""
    steps: Mapping[str, AnyStep]
    """The steps that could be read."""
    written: Mapping[str, Any]
    """Every step as its author wrote it."""

    @property
    def start(self) -> str | None:
        """The first step's id as it is written; None where it could not be read."""
        return None if "start" in self.unread else self.head.start

    @property
    def all_steps_read(self) -> bool:
        return len(self.steps) == len(self.written)

    def plan(self) -> WorkflowPlan:
        """Put head and steps together."""
        return self.head.model_copy(update={"steps": dict(self.steps)})


def read_draft(document: Mapping[str, Any], found: Findings) -> Draft:
    """Read what can be read, reporting every fault of shape."""
    head_document: dict[str, Any] = {**document, "steps": {}}
    head, unread = read_record(WorkflowPlan, head_document, found, stand_ins=_PLAN_STAND_INS)
    if head is None:
        raise AssertionError("every field of a plan has a stand-in")
    written = _written_steps(document, found)
    steps: dict[str, AnyStep] = {}
    for step_id, step_document in written.items():
        step = _read_step(step_id, step_document, found.at("steps", step_id))
        if step is not None:
            steps[step_id] = step
    return Draft(head, unread, steps, written)


def _written_steps(document: Mapping[str, Any], found: Findings) -> dict[str, Any]:
    if "steps" not in document:
        found.error("missing_key", "`steps` is missing.")
        return {}
    steps = document["steps"]
    if not isinstance(steps, dict):
        found.at("steps").error("invalid_type", f"Expected an object of step id and step, found {described(steps)}.")
        return {}
    return cast("dict[str, Any]", steps)


def _read_step(step_id: str, document: object, found: Findings) -> AnyStep | None:
    if step_id in (END, BREAK) or not _STEP_ID.fullmatch(step_id):
        found.error(
            "invalid_type",
            f"{shown(step_id)} is no step id.",
            f"A step id is letters, digits, `_` and `-`, begins with a letter or `_`, and is not {END} or {BREAK}.",
        )
    if not isinstance(document, dict):
        found.error("invalid_type", f"Expected a step, found {described(document)}.")
        return None
    step = cast("dict[str, Any]", document)
    if "type" not in step:
        found.unknown("missing_key", "`type` is missing.", "", STEP_RECORDS)
        return None
    kind = step["type"]
    if not isinstance(kind, str) or kind not in STEP_RECORDS:
        found.at("type").unknown("invalid_type", f"{shown(kind)} is no type of step.", str(kind), STEP_RECORDS)
        return None
    return read_record(STEP_RECORDS[kind], step, found, stand_ins=_STEP_STAND_INS)[0]
