"""The life of one tool call, the same for sessions and workflow steps: one table, and nothing changes a state but it.

ready     -> running | deferred | completed
running   -> completed | failed; ready | in_doubt where the process that ran it is gone
deferred  -> ready | completed | failed | expired      by the outside; in_doubt where its callee is gone
in_doubt  -> ready | completed | failed      (it may be repeated, or a person says so)
completed, failed, expired: final
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from wf_core.calls.policy import AppliedPolicy
from wf_core.calls.results import ToolResult
from wf_core.errors import CallAlreadyCompleted, IllegalTransition
from wf_core.jsonvalue import JsonValue

CallState = Literal["ready", "running", "deferred", "in_doubt", "completed", "failed", "expired"]
CallEvent = Literal["begin", "defer", "complete", "fail", "doubt", "wake", "expire"]


@dataclass(slots=True)
class TrackedCall:
    """One call that a model asked for, and what has become of it."""

    id: str
    """The turn's id and the call's index in it, `t4.0`: the same state gives the same ids."""
    provider_call_id: str
    """What the model named it."""
    name: str
    """As the model wrote it; there may be no such tool."""
    arguments: JsonValue
    """An object; as the model wrote it where that is no object."""
    policy: AppliedPolicy
    state: CallState = "ready"
    result: ToolResult | None = None
    """There once the state is final."""
    continuation_token: str | None = None
    """By which the outside delivers the result; there while it is deferred or in doubt, and kept afterwards."""
    reason: str | None = None
    """Why it was deferred, for whoever is asked; kept afterwards."""
    released: bool = False
    """Whether it is carried out here, whatever its disposition says: a person allowed it, or its runner took it up."""
    doubted: bool = False
    """Whether the model was told that nobody knows what became of it; kept afterwards."""


FINAL: Final[frozenset[CallState]] = frozenset({"completed", "failed", "expired"})

_NEXT: Final[Mapping[tuple[CallState, CallEvent], CallState]] = {
    ("ready", "begin"): "running",
    ("ready", "defer"): "deferred",
    ("ready", "complete"): "completed",
    ("running", "complete"): "completed",
    ("running", "fail"): "failed",
    ("running", "doubt"): "in_doubt",
    ("running", "wake"): "ready",
    ("deferred", "wake"): "ready",
    ("deferred", "doubt"): "in_doubt",
    ("deferred", "complete"): "completed",
    ("deferred", "fail"): "failed",
    ("deferred", "expire"): "expired",
    ("in_doubt", "wake"): "ready",
    ("in_doubt", "complete"): "completed",
    ("in_doubt", "fail"): "failed",
}


def next_state(call: TrackedCall, event: CallEvent) -> CallState:
    """Say which state an event leads to; nothing changes.

    Raises:
        CallAlreadyCompleted: the call's state is final.
        IllegalTransition: the event cannot happen in the call's state.
    """
    try:
        return _NEXT[call.state, event]
    except KeyError:
        details = {"call_id": call.id, "state": call.state, "event": event}
    if call.state in FINAL:
        raise CallAlreadyCompleted(
            f"The call {call.id} of {call.name} is {call.state} already.",
            hint="What was told first stays.",
            details=details,
        )
    raise IllegalTransition(
        f"The call {call.id} of {call.name} is {call.state}: {event} is not for it.",
        hint="Ask the session what is to be done next.",
        details=details,
    )


def advance(call: TrackedCall, event: CallEvent) -> None:
    """Change a call's state as the table says.

    Raises:
        CallAlreadyCompleted, IllegalTransition: the table has no such change; the call is as it was.
    """
    call.state = next_state(call, event)


def ending(call: TrackedCall, result: ToolResult) -> CallEvent:
    """Say which event a result is. A call that was never begun cannot have failed: it completes, with an error."""
    return "fail" if result.error and call.state != "ready" else "complete"
