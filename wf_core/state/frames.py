"""Where a run stands: one frame for each place at which it goes on by itself.

The root, each item of a loop and each child workflow is a frame. A frame has a role (how its end is understood) and,
while its step is under way, an activity (what it waits for). Frames form a tree by `parent`.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from wf_core.jsonvalue import JsonValue
from wf_core.state.layers import Layer, Write
from wf_core.state.pending import Awaited, Call, SideEffects

Role = Literal["root", "item", "child"]


@dataclass(frozen=True, slots=True)
class RunError:
    """Why a run, or an item of a loop, failed."""

    code: str
    message: str
    step_id: str | None
    """The innermost failing step; None where none failed: the plan's own start or output, or a run that was ended."""
    path: tuple[str, ...]
    attempt: int
    side_effects: SideEffects
    details: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])

    def to_json(self) -> dict[str, JsonValue]:
        """Give the record as users see it."""
        return {
            "code": self.code,
            "message": self.message,
            "step_id": self.step_id,
            "path": list(self.path),
            "attempt": self.attempt,
            "side_effects": self.side_effects,
            "details": self.details,
        }


@dataclass(slots=True)
class Calling:
    """A call is in flight, or about to be."""

    call: str


@dataclass(slots=True)
class Delayed:
    """The next attempt of a call, or the end of a sleep, is due at a time."""

    due_at: datetime
    call: Call


@dataclass(slots=True)
class Pending:
    """A call waits for a word from outside: it was put off, or nobody knows whether it executed."""

    call: Call
    awaits: Awaited
    reason: str
    """Why it was put off, for people; may be empty."""
    since: datetime
    expires_at: datetime | None = None
    """When nobody waits for the word any more."""


@dataclass(slots=True)
class Asking:
    """A question is open."""

    interrupt: str


@dataclass(slots=True)
class InChild:
    """A child workflow runs in a frame and a scope of its own."""

    frame: int
    ended: "ChildEnd | None" = None


@dataclass(slots=True)
class ChildEnd:
    """How a child workflow ended: with an outcome and an output, or with an error."""

    outcome: str | None
    output: JsonValue
    error: RunError | None


@dataclass(slots=True)
class Looping:
    """A loop: which items there are, which have begun, and what became of those that ended."""

    items: list[JsonValue]
    next_index: int = 0
    """The first item that has not begun."""
    active: dict[int, int] = field(default_factory=dict[int, int])
    """Item index -> frame, of the items that have begun and not ended."""
    writes: dict[int, list[Write]] = field(default_factory=dict[int, list[Write]])
    """Item index -> its writes, of the concurrent items that ended well; they meet when the last one ends."""
    failures: dict[int, RunError] = field(default_factory=dict[int, RunError])
    """Item index -> why it failed."""
    broken: bool = False
    """An item took `__break__`."""
    parked: dict[int, list[int]] = field(default_factory=dict[int, list[int]])
    """Item index -> frames of the item that could go on, had it a place; in the order in which places are given."""
    places: int = field(default=0, compare=False)
    """Items that execute; one that waits for an answer holds no place. Derived, never stored."""


_NOWHERE = Layer({})
"""What a frame sees until it is linked. Nothing is read from it or written to it."""

Activity = Calling | Delayed | Pending | Asking | InChild | Looping


@dataclass(slots=True)
class Frame:
    """One place at which a run goes on by itself."""

    id: int
    role: Role
    scope: int
    """Whose input and state this frame sees."""
    parent: int | None
    """The frame whose step waits for this one."""
    index: int | None
    """Which item of the parent's loop, from 0; None in other roles."""
    lineage: int | None
    """The concurrent item, by its frame, whose writes this frame's join; None writes to the scope itself."""
    step_id: str
    activity: Activity | None = None
    """None: the step has not begun."""
    started_at: datetime | None = None
    """When the present step was reached."""
    attempt: int = 1

    # Derived when a state is linked to its program; never stored.
    layer: Layer = field(default_factory=lambda: _NOWHERE, repr=False, compare=False)
    program: Any = field(default=None, repr=False, compare=False)
    prefix: tuple[str, ...] = field(default=(), repr=False, compare=False)
    """Step ids and item indexes from the root to this frame."""
    awake: bool = field(default=False, repr=False, compare=False)
    """It is ready, calls, or waits for a time: anything but an answer or a frame below."""
    parked: bool = field(default=False, repr=False, compare=False)
    """It waits for a place in a loop around it."""
    busy: int = field(default=0, repr=False, compare=False)
    """How many of this frame itself and the frames right below are awake, or have somebody awake below them."""
