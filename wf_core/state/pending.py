"""What waits for the outside: calls that began and questions that are open."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from wf_core.jsonvalue import JsonSchema, JsonValue

SideEffects = Literal["none", "unknown"]


@dataclass(frozen=True, slots=True)
class Settled:
    """What a person said of a call in doubt."""

    kind: Literal["completed", "failed", "retry"]
    at: datetime
    """Aware UTC."""


@dataclass(slots=True)
class Call:
    """One visit of a node: it keeps its id over retries, so outside systems can recognise a repetition."""

    id: str
    frame: int
    capability: str
    """The logical name, `source.capability`."""
    input: dict[str, JsonValue]
    attempt: int
    """Counts from 1."""
    started_at: datetime
    """When this attempt began, aware UTC."""
    side_effects: SideEffects = "none"
    """What is known of the attempts before this one."""
    settled: Settled | None = None
    """What a person said last of the attempts before this one, or of this one. None where nobody was asked."""


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
