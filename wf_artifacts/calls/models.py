"""What is kept of a call that waits: its snapshot, and what became of it. And results that are used again."""

from datetime import datetime
from typing import Any, Literal

from wf_artifacts.storage.documents import Format
from wf_artifacts.storage.records import Record, Time

ContinuationKind = Literal["deferred", "isolated", "approval", "in_doubt", "callee"]
"""An outside worker delivers; a runner does; a person allows it; nobody knows what became of it; a session answers."""

DeliveryKind = Literal["result", "approval", "retry"]
"""The result of the call; the word to carry it out; the word to carry it out again."""

WaitingState = Literal["open", "delivered", "expired", "closed"]

DeliveryAnswer = Literal["applied", "already_completed", "expired", "unknown"]


class Continuation(Record):
    """A call that waits, with everything that is needed to go on with it. Nothing that lives in a process is in it."""

    token: str
    """By which the outside delivers."""
    session_id: str
    """The session, or the run, that the call belongs to."""
    principal: str
    """Whose call it is. To anybody else it does not exist."""
    call_id: str
    provider_call_id: str = ""
    name: str
    """As the model knows the tool."""
    capability: str = ""
    arguments: Any
    kind: ContinuationKind
    reason: str | None = None
    disposition: Any = None
    """What the policy decided, as data."""
    rule: str = "default"
    """The rule that chose it."""
    cache_key: str | None = None
    context: Any = None
    """`wf_core.calls.policy.PolicyContext`, as data."""
    created_at: Time
    expires_at: Time | None = None
    """From this instant on nothing can be delivered."""


class Delivery(Record):
    """What the outside says to a call."""

    kind: DeliveryKind
    result: Any = None
    """The result as data, of kind `result`."""
    channel: str
    """How it came in: `mcp`, `cli`, `session` …"""
    principal: str
    """Who said it."""
    delivered_at: Time


class Waiting(Record):
    """A continuation, and what became of it. Once it is not open it stays so, unless its call is in doubt anew.

    One that was closed is opened for the callee, too: of a call that was approved, and whose callee goes on elsewhere.
    """

    continuation: Continuation
    state: WaitingState = "open"
    delivery: Delivery | None = None
    """Of one that was delivered; the first, whatever came later."""
    ended_at: Time | None = None
    """When it was delivered, expired, or was closed."""

    @property
    def token(self) -> str:
        return self.continuation.token

    def is_due(self, now: datetime) -> bool:
        """Tell whether it is open and its time has come."""
        expires_at = self.continuation.expires_at
        return self.state == "open" and expires_at is not None and expires_at <= now


class CachedResult(Record):
    """The result of a call, kept to be used again."""

    key: str
    """`wf_core.calls` makes it of the capability, its contract, the arguments and the scope."""
    result: Any
    created_at: Time


WAITING = Format("wf.continuation", 2, Waiting, plain=1)
CACHED = Format("wf.cached_result", 2, CachedResult, plain=1)
