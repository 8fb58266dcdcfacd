"""Reading the events of a stored session, strictly: one JSON object a line, named by `event`."""

from collections.abc import Callable, Mapping
from typing import Any

from wf_core.codec.fields import Fields, corrupt
from wf_core.codec.session_state import (
    read_attachment,
    read_call_of,
    read_policy_of,
    read_state,
    read_stored_result,
    read_usage,
)
from wf_core.errors import NotJson
from wf_core.jsonvalue import loads
from wf_core.sessions.deliveries import Approved, Delivered, Delivery, Retried
from wf_core.sessions.events import (
    Answered,
    AskedCall,
    Begun,
    Completed,
    Deferred,
    Doubted,
    Event,
    Expired,
    Forked,
    Held,
    Released,
    Said,
    Started,
    TakenOver,
    Woken,
)
from wf_core.sessions.models import SessionHeader


def read_event(line: bytes, where: str, header: SessionHeader) -> Event:
    """Read one line.

    Raises:
        StateCorrupt: naming the place.
    """
    try:
        document = loads(line)
    except NotJson as bad:
        raise corrupt(where, f"holds {bad.reason}") from bad
    with Fields(document, where) as fields:
        kind = fields.one_of(("forked", *_READERS), "event")
        return _forked(fields, header) if kind == "forked" else _READERS[kind](fields)


def _started(fields: Fields) -> Started:
    return Started(fields.maybe(str, "query"), tuple(fields.each("attachments", read_attachment)))


def _forked(fields: Fields, header: SessionHeader) -> Forked:
    return Forked(fields.of(str, "origin"), read_state(fields.any("state"), f"{fields.where}.state", header))


def _said(fields: Fields) -> Said:
    attachments = tuple(fields.each("attachments", read_attachment))
    return Said(fields.of(str, "query"), attachments, fields.of(bool, "joins"))


def _answered(fields: Fields) -> Answered:
    return Answered(
        fields.of(str, "text"),
        tuple(fields.each("calls", _read_asked)),
        read_usage(fields.any("usage"), f"{fields.where}.usage"),
    )


def _read_asked(value: Any, where: str) -> AskedCall:
    with Fields(value, where) as fields:
        return AskedCall(read_call_of(fields), read_policy_of(fields), fields.maybe(str, "fault"))


def _begun(fields: Fields) -> Begun:
    return Begun(fields.texts("calls"))


def _completed(fields: Fields) -> Completed:
    return Completed(fields.of(str, "call"), read_stored_result(fields.any("result"), f"{fields.where}.result"))


def _deferred(fields: Fields) -> Deferred:
    return Deferred(fields.of(str, "call"), fields.of(str, "token"), fields.maybe(str, "reason"))


def _doubted(fields: Fields) -> Doubted:
    return Doubted(fields.of(str, "call"), fields.of(str, "reason"))


def _released(fields: Fields) -> Released:
    return Released(fields.of(str, "call"))


def _expired(fields: Fields) -> Expired:
    return Expired(fields.of(str, "call"))


def _woken(fields: Fields) -> Woken:
    return Woken(tuple(fields.each("deliveries", _read_delivery)))


def _read_delivery(value: Any, where: str) -> tuple[str, Delivery]:
    with Fields(value, where) as fields:
        call = fields.of(str, "call")
        match fields.one_of(("result", "approval", "retry"), "kind"):
            case "result":
                return call, Delivered(read_stored_result(fields.any("result"), f"{where}.result"))
            case "approval":
                return call, Approved()
            case _:
                return call, Retried()


_READERS: Mapping[str, Callable[[Fields], Event]] = {
    "started": _started,
    "said": _said,
    "answered": _answered,
    "begun": _begun,
    "completed": _completed,
    "deferred": _deferred,
    "doubted": _doubted,
    "released": _released,
    "expired": _expired,
    "woken": _woken,
    "held": lambda _: Held(),
    "taken_over": lambda _: TakenOver(),
}
