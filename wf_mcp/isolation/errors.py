"""What can go wrong between us and an isolated worker, and what is known of its effects."""

from collections.abc import Mapping
from typing import Any, Literal

from wf_core.errors import WfError

IsolationCode = Literal[
    "isolation_unavailable",
    "isolation_timeout",
    "isolation_failed",
    "isolation_output_invalid",
    "isolation_output_too_large",
]


class IsolationError(WfError):
    """An isolated call gave no result. Nothing of its worker is left.

    The message says what happened; `executed` says what is known of effects, which depends on the capability, too.

    What a worker itself says, that the call failed, is a result and no error of this kind.
    """

    code = "isolation_failed"

    def __init__(
        self,
        code: IsolationCode,
        message: str,
        *,
        executed: bool,
        hint: str | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message, hint=hint, details=details)
        self.code = code
        self.executed = executed
        """False when it is known that the worker never ran; True when it did, or may have."""


def unavailable(message: str, hint: str) -> IsolationError:
    """Give the error of a worker that was never started."""
    return IsolationError("isolation_unavailable", message, executed=False, hint=hint)


def timed_out(seconds: float) -> IsolationError:
    """Give the error of a worker that was ended because it took too long."""
    return IsolationError(
        "isolation_timeout",
        f"The isolated worker was ended after {seconds:g} seconds.",
        executed=True,
        hint="Raise timeoutSeconds in the agent's runner or the call's isolation spec, or find out what it waits for.",
        details={"timeout_seconds": seconds},
    )


def too_large(limit: int) -> IsolationError:
    """Give the error of an answer beyond its bound; the rest of it was not read."""
    return IsolationError(
        "isolation_output_too_large",
        f"The isolated worker answered with more than {limit} bytes.",
        executed=True,
        hint="Answer with a reference to the data, or raise maxOutputBytes in the agent's runner.",
        details={"max_output_bytes": limit},
    )
