"""What has happened in a session: each transition is one of these, and a session is what they make of it, in order.

An event holds what was decided, not what it followed from: policies, schemas and messages may change, a stored session
does not. What an event does is `applying`; how it is read again is `wf_core.codec`.
"""

from dataclasses import dataclass
from typing import TypeAlias

from wf_core.calls.policy import AppliedPolicy, ToolCall
from wf_core.calls.results import ToolResult, result_to_json
from wf_core.jsonvalue import JsonValue
from wf_core.sessions.deliveries import Approved, Delivered, Delivery, Retried
from wf_core.sessions.forms import attachment_to_json, policy_to_json, state_to_json, tool_call_to_json, usage_to_json
from wf_core.sessions.models import Attachment, Session, Usage


@dataclass(frozen=True, slots=True)
class Started:
    query: str | None
    attachments: tuple[Attachment, ...]


@dataclass(frozen=True, slots=True)
class Forked:
    """The first event of a fork."""

    origin: str
    """The id of the session that was forked."""
    state: Session
    """What its events had made of it, with the fork's own tokens. Its header is the fork's."""


@dataclass(frozen=True, slots=True)
class Said:
    query: str
    attachments: tuple[Attachment, ...]
    joins: bool
    """Whether it became part of the user turn that had no answer yet."""


@dataclass(frozen=True, slots=True)
class AskedCall:
    """A call that the model asked for, and what was decided about it."""

    call: ToolCall
    policy: AppliedPolicy
    fault: str | None
    """Why it cannot be made."""


@dataclass(frozen=True, slots=True)
class Answered:
    text: str
    calls: tuple[AskedCall, ...]
    usage: Usage


@dataclass(frozen=True, slots=True)
class Begun:
    calls: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Completed:
    call: str
    result: ToolResult


@dataclass(frozen=True, slots=True)
class Deferred:
    call: str
    token: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class Doubted:
    """The callee of a deferred call is not there any more."""

    call: str
    reason: str


@dataclass(frozen=True, slots=True)
class Released:
    call: str


@dataclass(frozen=True, slots=True)
class Expired:
    call: str


@dataclass(frozen=True, slots=True)
class Woken:
    deliveries: tuple[tuple[str, Delivery], ...]
    """By call id."""


@dataclass(frozen=True, slots=True)
class Held: ...


@dataclass(frozen=True, slots=True)
class TakenOver:
    """Whatever was running is not known to run any more."""


Event: TypeAlias = (
    Started
    | Forked
    | Said
    | Answered
    | Begun
    | Completed
    | Deferred
    | Doubted
    | Released
    | Expired
    | Woken
    | Held
    | TakenOver
)


def event_to_json(event: Event) -> dict[str, JsonValue]:
    """Write an event."""
    match event:
        case Started():
            return {"event": "started", "query": event.query, "attachments": _attachments(event.attachments)}
        case Forked():
            return {"event": "forked", "origin": event.origin, "state": state_to_json(event.state)}
        case Said():
            attachments = _attachments(event.attachments)
            return {"event": "said", "query": event.query, "attachments": attachments, "joins": event.joins}
        case Answered():
            calls: list[JsonValue] = [_asked(asked) for asked in event.calls]
            return {"event": "answered", "text": event.text, "calls": calls, "usage": usage_to_json(event.usage)}
        case Woken():
            return {"event": "woken", "deliveries": [_delivery(call, told) for call, told in event.deliveries]}
        case Held():
            return {"event": "held"}
        case TakenOver():
            return {"event": "taken_over"}
        case _:
            return _call_event(event)


def _call_event(event: Begun | Completed | Deferred | Doubted | Released | Expired) -> dict[str, JsonValue]:
    match event:
        case Begun():
            return {"event": "begun", "calls": list(event.calls)}
        case Completed():
            return {"event": "completed", "call": event.call, "result": result_to_json(event.result)}
        case Deferred():
            return {"event": "deferred", "call": event.call, "token": event.token, "reason": event.reason}
        case Doubted():
            return {"event": "doubted", "call": event.call, "reason": event.reason}
        case Released():
            return {"event": "released", "call": event.call}
        case Expired():
            return {"event": "expired", "call": event.call}


def _attachments(attachments: tuple[Attachment, ...]) -> list[JsonValue]:
    return [attachment_to_json(attachment) for attachment in attachments]


def _asked(asked: AskedCall) -> dict[str, JsonValue]:
    return {**tool_call_to_json(asked.call), **policy_to_json(asked.policy), "fault": asked.fault}


def _delivery(call: str, delivery: Delivery) -> JsonValue:
    match delivery:
        case Delivered(result):
            return {"call": call, "kind": "result", "result": result_to_json(result)}
        case Approved():
            return {"call": call, "kind": "approval"}
        case Retried():
            return {"call": call, "kind": "retry"}
