"""What a capability promises, as far as the kernel needs to know it."""

from dataclasses import dataclass, field
from typing import Any

JsonSchema = dict[str, Any] | bool

ERROR_OUTCOME = "error"
"""The outcome that a plan may leave unrouted: such a result then fails the run with the capability's message."""


@dataclass(frozen=True, slots=True)
class Hints:
    """What is known of a capability's effects. The default is the cautious answer to each question."""

    read_only: bool = False
    idempotent: bool = False
    destructive: bool = True

    @property
    def repeatable(self) -> bool:
        """Whether a call may be repeated without asking anyone."""
        return self.read_only or self.idempotent


@dataclass(frozen=True, slots=True)
class Contract:
    """The schemas, outcomes and hints of one capability."""

    input_schema: JsonSchema = field(default_factory=dict[str, Any])
    output_schema: JsonSchema = field(default_factory=dict[str, Any])
    outcomes: tuple[str, ...] = ("ok",)
    hints: Hints = Hints()
    deferred: bool = False
    """The kernel itself waits and no source is called: `wf.std.sleep`."""
