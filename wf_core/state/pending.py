"""What waits for the outside: calls that began and questions that are open."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from wf_core.jsonvalue import JsonSchema, JsonValue

SideEffects = Literal["none", "unknown"]

Awaited = Literal["deferred", "approval", "isolated", "callee", "in_doubt"]
"""Whose word a call waits for: an outside worker's; a person's, who allows it; a runner's, of which there is none here;
its callee's, which goes on elsewhere; or a person's, for nobody knows what became of it."""

WordKind = Literal["completed", "failed", "retry", "approved", "expired"]
"""What is said of a call that waits. Nobody says `expired`: its time has come."""

Speaker = Literal["person", "outside", "callee", "time"]
"""Who says it. A model, or a worker that a model may be, is `outside`."""


@dataclass(frozen=True, slots=True)
class Settled:
    """What was said of a call that waited."""

    kind: WordKind
    at: datetime
    """Aware UTC."""
    by: Speaker = "person"


@dataclass(slots=True)
class Call:
    """One visit of a node: it keeps its id over retries, so outside systems can recognise a repetition."""

    id: str
    frame: int
    capability: str
    """The logical name, `source.capability`."""
    input: dict[str, JsonValue]
    attempt: int
    """Counts from 1; 0 of a call that was put off before its first."""
    started_at: datetime
    """When this attempt began, aware UTC. Of a call that was put off before its first: when that was."""
    side_effects: SideEffects = "none"
    """What is known of the attempts before this one."""
    settled: Settled | None = None
    """What was said last of the attempts before this one, or of this one. None where nobody was asked."""


@dataclass(slots=True)
class Interrupt:
    """A question that waits for an answer. Its schemas are those of the moment at which it was asked."""

    id: str
    frame: int
    kind: str
    step_id: str
    path: tuple[str, ...]
    payload: JsonValue
    outcomes: tuple[str, ...]
    request_schema: JsonSchema
    resume_schema: JsonSchema
    outcome_schemas: dict[str, JsonSchema]
    typed: bool
    """Whether the plan says what an answer looks like."""
    answered_by: Literal["anyone", "person"]
    opened_at: datetime

    def schema_for(self, outcome: str) -> JsonSchema:
        """Give the schema that an answer with this outcome has to fit."""
        return self.outcome_schemas.get(outcome, self.resume_schema)
