"""What it takes to carry out a call, and what may come of it."""

from dataclasses import dataclass
from typing import Literal, Protocol, Self

from wf_core.calls.capability import idempotency_key
from wf_core.calls.policy import Disposition, PolicyContext, ToolCall
from wf_core.calls.results import ToolResult
from wf_core.jsonvalue import JsonValue
from wf_core.sessions.models import ToolDefinition

YieldKind = Literal["deferred", "isolated", "approval", "callee"]
"""Whose word is waited for: an outside worker's, an isolated worker's, a person's, or that of the callee itself."""


@dataclass(frozen=True, slots=True)
class Target:
    """The capability that a call is pinned to."""

    source: str
    name: str
    """As its source knows it."""
    digest: str
    """Of its contract."""
    read_only: bool = False
    repeatable: bool = False
    """Whether it may be called again without asking anybody."""
    outcomes: tuple[str, ...] = ("ok",)

    @classmethod
    def of(cls, tool: ToolDefinition) -> Self:
        """Give what an agent's tool stands for."""
        return cls(tool.source, tool.own_name, tool.digest, tool.read_only, tool.repeatable, tool.outcomes)

    @property
    def capability(self) -> str:
        return f"{self.source}.{self.name}"


@dataclass(frozen=True, slots=True)
class CallRequest:
    """A call that is to be carried out now, or put off."""

    owner_id: str
    """Of its session or run."""
    call_id: str
    token: str
    """By which its result can be delivered if it is put off."""
    call: ToolCall
    target: Target
    disposition: Disposition
    context: PolicyContext
    attempt: int = 1
    put_off: bool = False
    """Whether its callee has put it off before, and is only asked again."""

    @property
    def idempotency_key(self) -> str:
        """Name the call for outside systems: the same for every attempt, also after a crash."""
        return idempotency_key(self.owner_id, self.call_id)


@dataclass(frozen=True, slots=True)
class CallComplete:
    """A call has its result."""

    result: ToolResult
    """As a model reads it; `error` says that the call failed."""
    outcome: str = "ok"
    output: JsonValue = None
    """As the capability gave it; None of a call that failed."""
    code: str | None = None
    """Of the failure, where there was no answer."""
    executed: bool = True
    """False when the call failed and is known not to have executed."""
    message: str = ""
    """Of the failure, where there was no answer: for people."""


@dataclass(frozen=True, slots=True)
class CallYield:
    """A call is put off: its result comes by the token."""

    token: str
    cache_key: str | None = None
    kind: YieldKind = "deferred"
    reason: str = ""
    expires_seconds: float | None = None


class CallExecutor(Protocol):
    """A way to carry out calls. Cancelling the caller tells the call to stop; whether it does is unknown."""

    async def exec_sync(self, request: CallRequest) -> CallComplete:
        """Carry a call out now, whatever its policy says of when. What fails is a result too.

        Raises:
            CallDeferred: the callee goes on elsewhere.
        """
        ...

    async def exec_async(self, request: CallRequest) -> CallComplete | CallYield:
        """Carry a call out, or put it off. Putting it off stores nothing: that is the caller's."""
        ...
