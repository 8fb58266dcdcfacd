"""What every capability source is to the rest of the program."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, Self, runtime_checkable

from wf_artifacts.sources.models import Capability
from wf_core.calls.capability import CallContext
from wf_core.frozen import frozen
from wf_core.jsonvalue import JsonValue
from wf_mcp.sources.errors import (
    CALLEE_GONE,
    CallDeferred,
    CalleeGone,
    CallFailed,
    CapabilityNotFound,
    SourceNotFound,
    SourceUnavailable,
    effect_of,
)

SourceKind = Literal["std", "python", "mcp", "agents", "workflows"]
DEFERRING: frozenset[SourceKind] = frozenset({"agents", "workflows"})
"""The kinds of sources whose capabilities may put a call off."""

SourceState = Literal["ready", "idle", "unavailable", "disabled"]


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """Something to know about a source. Its texts hold no secret and no path of the host."""

    severity: Literal["error", "warning"]
    code: str
    message: str
    hint: str | None = None

    @classmethod
    def of(cls, error: SourceUnavailable) -> Self:
        """Give the diagnostic of a source that cannot be used; that it is switched off is no error."""
        return cls("warning" if error.code == "source_disabled" else "error", error.code, error.message, error.hint)


@frozen
class CallResult:
    """What a capability answered: strict JSON without secrets, owned by the caller."""

    outcome: str
    output: JsonValue


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """How a source stands, as far as is known without trying it."""

    name: str
    kind: SourceKind
    enabled: bool
    state: SourceState
    """`idle`: not needed yet, or not connected now; the next use tries."""
    capability_count: int | None
    """None while the source has not been asked."""
    diagnostics: Sequence[Diagnostic]


class CapabilitySource(Protocol):
    """Who owns capabilities. A source does nothing until it is first used."""

    @property
    def name(self) -> str: ...

    @property
    def kind(self) -> SourceKind: ...

    @property
    def enabled(self) -> bool: ...

    async def capabilities(self) -> Mapping[str, Capability]:
        """Give what the source offers now, by name, loading or connecting it if need be.

        Raises:
            SourceUnavailable: it is switched off (`source_disabled`), or cannot be loaded or reached
                (`source_unavailable`); the message says what happened.
        """
        ...

    async def call(self, capability: str, input: Mapping[str, JsonValue], context: CallContext) -> CallResult:
        """Call one capability. The input is the caller's and stays as it is. There is no time limit.

        Cancelling the caller tells the source to stop; whether it does is unknown.

        Raises:
            CallFailed: there is no result. `executed` is False only when it is certain that nothing happened.
            CalleeGone: so far only put off, and what it went on in is not there any more; nothing was begun.
            CallDeferred: the callee goes on elsewhere. Only by a source in `DEFERRING`, and of a call that may be
                repeated: asking again with the same idempotency key gives the result once it is there.
        """
        ...

    def status(self) -> SourceStatus:
        """Say how the source stands, without loading or connecting it."""
        ...

    async def close(self) -> None:
        """Let go of what the source holds, within a few seconds. Calls under way fail."""
        ...


@runtime_checkable
class Listing(Protocol):
    """A source whose capabilities are those of its last listing: what it lists may change without a word."""

    async def capabilities_since(self, moment: float) -> Mapping[str, Capability]:
        """Do as `capabilities`, from a listing that was asked for at `moment` (of the event loop's clock) or later.

        Whoever asks at the same time shares one.
        """
        ...


async def offered_since(source: CapabilitySource, moment: float) -> Mapping[str, Capability]:
    """Give what a source offers, listed at `moment` or later where it has to be listed.

    Raises:
        SourceUnavailable: as `capabilities`.
    """
    return await (source.capabilities_since(moment) if isinstance(source, Listing) else source.capabilities())


__all__ = [
    "CALLEE_GONE",
    "DEFERRING",
    "CallDeferred",
    "CallFailed",
    "CallResult",
    "CalleeGone",
    "CapabilityNotFound",
    "CapabilitySource",
    "Diagnostic",
    "Listing",
    "SourceKind",
    "SourceNotFound",
    "SourceState",
    "SourceStatus",
    "SourceUnavailable",
    "effect_of",
    "offered_since",
]
