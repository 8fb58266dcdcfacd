"""What passes between the kernel and its driver: what to do, and what came of it."""

from dataclasses import field
from datetime import datetime
from typing import Literal

from wf_core.calls.policy import AppliedPolicy
from wf_core.frozen import frozen
from wf_core.jsonvalue import JsonValue
from wf_core.state import RunStatus, Speaker

DEFAULT_OUTCOME = "submitted"
"""The outcome of an answer that names none."""


@frozen
class Invocation:
    """One attempt of a call that the driver has to make."""

    call_id: str
    """The same for every attempt."""
    capability: str
    """The logical name, `source.capability`; the pinned bindings say whose it is."""
    step_id: str
    path: tuple[str, ...]
    """Step ids from the root; a loop adds its step id and the index."""
    input: dict[str, JsonValue]
    """Not to be changed: parts of it may be the run's own state."""
    attempt: int
    """Counts from 1."""
    timeout_seconds: float | None
    repeatable: bool
    """Whether it may be made again without asking anybody. If not, that it begins is to be stored before it is made."""
    policy: AppliedPolicy | None = None
    """How it is to be carried out. None: as it comes."""


@frozen
class Waiting:
    """Nothing to do until a call ends, or until the time comes."""

    until: datetime | None
    """When the run has to be asked again at the latest; None while only calls can move it."""


@frozen
class Ready:
    """Make these calls, at the same time if there are several, then do as `then` says."""

    calls: tuple[Invocation, ...]
    then: Waiting | None
    """None: ask again, there is more to do."""


@frozen
class Stopped:
    """The run goes on only by an answer (`interrupted`), or not at all."""

    status: RunStatus


@frozen
class Answer:
    """What the outside says to an open question."""

    payload: JsonValue
    outcome: str = DEFAULT_OUTCOME
    interrupt_id: str | None = None
    """None names the only open question."""
    channel: str = "mcp"
    principal: str = "local"
    person: bool = False
    """Whether the channel is one that a model cannot use."""


@frozen
class Settlement:
    """What is said of a call that waits: that it gave this result, that it failed, or that it may be made (again)."""

    kind: Literal["completed", "failed", "retry", "approved"]
    outcome: str = "ok"
    output: JsonValue = None
    message: str | None = None
    """Why it failed."""
    by: Speaker = "person"


@frozen
class CallFailure:
    """An attempt that gave no result."""

    code: str
    message: str
    executed: bool = True
    """False only where it is known that the capability was never reached."""
    details: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
