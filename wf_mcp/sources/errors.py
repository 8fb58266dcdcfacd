"""What can go wrong between us and a source.

WfError
├── CallFailed           a call did not deliver; says whether it may have executed
│   └── CalleeGone       what it went on in is not there any more
├── CallDeferred         a call goes on elsewhere; its result comes later
├── SourceUnavailable    a source that cannot be used now, or is switched off
├── SourceNotFound       no source of that name is configured
└── CapabilityNotFound   the source does not offer it
"""

from collections.abc import Iterable, Mapping
from typing import Any, Literal, Self

from wf_core.calls.contract import CAPABILITY_ERROR
from wf_core.errors import WfError
from wf_core.ids import close_matches


class CallFailed(WfError):
    """A call did not deliver a result. `code` is that of the run's error record."""

    code: str = CAPABILITY_ERROR

    def __init__(
        self,
        code: str,
        message: str,
        *,
        executed: bool,
        hint: str | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message, hint=hint or _HINTS.get(code), details=details)
        self.code = code
        self.executed = executed
        """False when the call is known not to have executed; True when it did, or may have."""

    @classmethod
    def before(cls, error: WfError) -> Self:
        """Give the failure of a call that `error` kept from happening at all."""
        return cls(error.code, error.message, executed=False, hint=error.hint, details=error.details)


def effect_of(*, executed: bool, read_only: bool) -> str:
    """Say in a sentence whether a call that failed may have had its effect."""
    return "It may have had its effect." if executed and not read_only else "It had no effect."


CALLEE_GONE = "callee_gone"


class CalleeGone(CallFailed):
    """The session or run that a call began is not there any more: what became of the call is known to nobody."""

    def __init__(self, what: str) -> None:
        super().__init__(CALLEE_GONE, f"{what} is not there any more", executed=True)


class CallDeferred(WfError):
    """The callee goes on elsewhere: ask again with the same idempotency key, or wait for the call's token."""

    code = "call_deferred"

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"The call goes on elsewhere: {reason.removesuffix('.')}.",
            hint="list_pending shows what it waits for; it is looked at by the id of its session or run.",
        )
        self.reason = reason
        """What the callee is, and what it waits for: part of a sentence."""


class SourceUnavailable(WfError):
    """A source cannot be used: it is switched off, or cannot be loaded or connected to. Nothing was called."""

    def __init__(
        self,
        source: str,
        message: str,
        *,
        code: Literal["source_unavailable", "source_disabled"] = "source_unavailable",
        hint: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint, details={"source": source})
        self.code = code
        self.source = source

    @classmethod
    def silent(cls, source: str, seconds: float) -> Self:
        """Say that a source was waited for, and may answer yet."""
        message = f"The source {source!r} has not answered within {seconds:g} seconds."
        return cls(source, message, hint="It goes on starting: try again.")


class SourceNotFound(WfError, LookupError):
    """No source of that name is configured."""

    code = "source_not_found"

    def __init__(self, source: str, known: Iterable[str]) -> None:
        close = close_matches(source, known)
        super().__init__(
            f"There is no source {source!r}.",
            hint=_did_you_mean(close) or "list_sources() shows every one.",
            details={"source": source, "close_matches": close},
        )
        self.source = source


class CapabilityNotFound(WfError, LookupError):
    """No source offers a capability of that name."""

    code = "capability_not_found"

    def __init__(self, name: str, known: Iterable[str]) -> None:
        close = close_matches(name, known)
        super().__init__(
            f"There is no capability {name!r}.",
            hint=_did_you_mean(close) or "list_capabilities() shows every one.",
            details={"capability": name, "close_matches": close},
        )
        self.name = name


_HINTS: Mapping[str, str] = {
    CAPABILITY_ERROR: "The capability itself says so: inspect_capability shows what it takes.",
    "output_invalid": "The capability answered what it may not: whoever offers it has to correct that. "
    "inspect_capability shows what it may answer.",
}
"""What to do about a call that failed, where whoever says so knows nothing better."""


def _did_you_mean(close: list[str]) -> str | None:
    return f"Did you mean {' or '.join(close)}?" if close else None
