"""A run between two transitions."""

from collections import deque
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from wf_core.jsonvalue import JsonValue
from wf_core.state.frames import Frame, Pending, RunError
from wf_core.state.layers import Layer
from wf_core.state.pending import Call, Interrupt

RunStatus = Literal["running", "interrupted", "completed", "failed", "cancelled"]

FINAL: frozenset[RunStatus] = frozenset(("completed", "failed", "cancelled"))
"""Every status that a run never leaves again."""


@dataclass(slots=True)
class Scope:
    """The input and the committed state of one workflow: the root's, or a child's."""

    id: int
    program: tuple[str, ...]
    """The subgraph steps that lead from the root plan to this scope's plan; empty for the root."""
    input: JsonValue
    layer: Layer


@dataclass(slots=True)
class Lineage:
    """What a concurrent item has written so far, seen by itself alone."""

    frame: int
    """The item's frame, whose id names the lineage."""
    scope: int
    parent: int | None
    """The lineage around it; None over the scope itself."""
    layer: Layer


@dataclass(slots=True)
class Counters:
    """The next free number of each kind of id."""

    frame: int = 0
    scope: int = 0
    call: int = 1
    interrupt: int = 1


@dataclass(slots=True)
class RunState:
    """Everything the kernel needs to go on. A transition updates it in place; its owner is whoever advances the run."""

    run_id: str
    status: RunStatus = "running"
    outcome: str | None = None
    output: JsonValue = None
    error: RunError | None = None
    scopes: dict[int, Scope] = field(default_factory=dict[int, Scope])
    lineages: dict[int, Lineage] = field(default_factory=dict[int, Lineage])
    frames: dict[int, Frame] = field(default_factory=dict[int, Frame])
    ready: deque[int] = field(default_factory=deque[int])
    """Frames that can go on, in the order in which they will."""
    calls: dict[str, Call] = field(default_factory=dict[str, Call])
    """Calls that began and have not ended, in the order in which they began."""
    interrupts: dict[str, Interrupt] = field(default_factory=dict[str, Interrupt])
    """Open questions, in the order in which they opened."""
    counters: Counters = field(default_factory=Counters)
    position: int = 0
    """How many inputs the run was given; what a journal record leads to."""
    steps_executed: int = 0
    trace_count: int = 0
    """How many trace entries the run has made; the next one gets this index."""

    # Not stored.
    delays: dict[int, datetime] = field(default_factory=dict[int, datetime], repr=False, compare=False)
    """Frame -> when it is due, of the frames that wait for a time."""
    expiries: dict[int, datetime] = field(default_factory=dict[int, datetime], repr=False, compare=False)
    """Frame -> when nobody waits any more for the word on its call."""
    fresh_trace: list[bytes] = field(default_factory=list[bytes], repr=False, compare=False)
    linked: Any = field(default=None, repr=False, compare=False)
    """The program whose parts the frames hold."""

    @property
    def pending_calls(self) -> dict[str, int]:
        """Call -> frame, of the calls that wait for a word from outside, in the order of the frames."""
        return {
            frame.activity.call.id: frame.id for frame in self.frames.values() if isinstance(frame.activity, Pending)
        }

    def take_trace(self) -> list[bytes]:
        """Drain the trace entries made since the last take, each one JSON object without a newline."""
        taken, self.fresh_trace = self.fresh_trace, []
        return taken
