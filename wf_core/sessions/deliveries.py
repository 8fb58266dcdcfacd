"""What the outside may say of a call, and which of it answers which call."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from wf_core.calls.policy import Defer, RunIsolated, bare
from wf_core.calls.results import ToolResult
from wf_core.calls.tracked import TrackedCall
from wf_core.errors import WrongAnswerKind


@dataclass(frozen=True, slots=True)
class Delivered:
    """The call's result. One with `error` also refuses an approval."""

    result: ToolResult


@dataclass(frozen=True, slots=True)
class Approved:
    """A person allows the call: it is carried out here."""


@dataclass(frozen=True, slots=True)
class Retried:
    """A person says that a call in doubt is to be made again; or a deferred isolated call is to be run here."""


Delivery: TypeAlias = Delivered | Approved | Retried

Awaited: TypeAlias = Literal["result", "approval", "isolation", "word"]

_WORDS: dict[Awaited, str] = {
    "result": "a result from outside",
    "approval": "a person's approval",
    "isolation": "its isolated run, or a result from outside",
    "word": "a person's word on whether it happened",
}


def awaited(call: TrackedCall) -> Awaited | None:
    """Say what an open call waits for: an outside result, an approval, a runner, a person's word; None for nothing."""
    if call.state == "in_doubt":
        return "word"
    if call.state != "deferred":
        return None
    if call.released:
        return "result"
    match bare(call.policy.disposition):
        case Defer(approval=True):
            return "approval"
        case RunIsolated():
            return "isolation"
        case _:
            return "result"


def check_delivery(call: TrackedCall, delivery: Delivery) -> None:
    """Refuse what does not answer an open call: to be asked before a delivery is stored.

    Raises:
        WrongAnswerKind: naming what the call waits for.
    """
    waits_for = awaited(call)
    match delivery:
        case Delivered(result):
            fits = waits_for in ("result", "isolation", "word") or (waits_for == "approval" and result.error)
            told = "a result"
        case Approved():
            fits = waits_for == "approval"
            told = "an approval"
        case Retried():
            fits = waits_for in ("isolation", "word")
            told = "a wish to make it (again)"
    if not fits:
        needed = "nothing that the outside tells" if waits_for is None else _WORDS[waits_for]
        raise WrongAnswerKind(
            f"The call {call.id} of {call.name} waits for {needed}; {told} does not answer it.",
            hint=_hint(waits_for),
            details={"call_id": call.id, "state": call.state, "awaited": waits_for},
        )


def _hint(waits_for: Awaited | None) -> str:
    if waits_for == "approval":
        return "Approve it, or refuse it by failing it; nothing was changed."
    return "Nothing was changed."
