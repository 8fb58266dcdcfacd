"""What the author of a Python capability writes: the decorator, the outcome, the call's context.

Reading a contract from the type hints is `wf_mcp.sources.python`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from wf_core.calls.contract import Hints
from wf_core.frozen import frozen

CAPABILITY_ATTRIBUTE = "__wf_capability__"

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class CapabilityMark:
    """What `@capability` notes on a function."""

    name: str | None
    outcomes: tuple[str, ...]
    hints: Hints


@dataclass(frozen=True, slots=True)
class Outcome:
    """A result with an outcome other than the first declared one: `return Outcome("rejected", {"limit": 100})`."""

    name: str
    output: Any = None


@frozen
class CallContext:
    """Where a call stands. Injected into a capability's parameter of this type; not part of its contract."""

    run_id: str
    step_id: str
    path: tuple[str, ...]
    """Step ids from the root; a loop adds its step id and the index."""
    attempt: int
    """Counts from 1."""
    idempotency_key: str
    """The same for every attempt of this call, also after a crash."""
    token: str | None = None
    """By which the result can be delivered later, should whoever is called put the call off."""
    put_off: bool = False
    """Whether whoever is called has put the call off before. Then it is only asked again, and nothing is begun."""


def capability(
    *,
    name: str | None = None,
    read_only: bool = False,
    idempotent: bool = False,
    destructive: bool | None = None,
    outcomes: tuple[str, ...] = ("ok",),
) -> Callable[[F], F]:
    """Offer the decorated function as a capability; its contract comes from its type hints.

    `name` defaults to the function's. `read_only` says that a call changes nothing, `idempotent` that repeating it adds
    nothing: both let a call be repeated after a failure or a crash. `destructive` defaults to `not read_only`.
    """
    if not outcomes or len(set(outcomes)) != len(outcomes):
        raise ValueError("outcomes must name at least one outcome, each once")
    hints = Hints(
        read_only=read_only,
        idempotent=idempotent or read_only,
        destructive=(not read_only) if destructive is None else destructive,
    )
    mark = CapabilityMark(name=name, outcomes=tuple(outcomes), hints=hints)

    def decorate(function: F) -> F:
        setattr(function, CAPABILITY_ATTRIBUTE, mark)
        return function

    return decorate


def mark_of(value: object) -> CapabilityMark | None:
    """Give what `@capability` noted on a function, or None."""
    mark = getattr(value, CAPABILITY_ATTRIBUTE, None)
    return mark if isinstance(mark, CapabilityMark) else None


def idempotency_key(owner_id: str, call_id: str) -> str:
    """Name a call of a run or a session for outside systems: the same over retries and recovery."""
    return f"{owner_id}:{call_id}"


__all__ = ["CallContext", "CapabilityMark", "Outcome", "capability", "idempotency_key", "mark_of"]
