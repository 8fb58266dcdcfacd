"""What the outside delivers to a call that waits: which kinds of answer fit, and who may give them."""

import logging
from datetime import datetime

from wf_artifacts.calls.models import Continuation, ContinuationKind, Delivery, DeliveryKind
from wf_artifacts.errors import CallNotFound
from wf_core.calls.results import ToolResult, read_form, read_result, result_to_json
from wf_core.errors import InvalidResult, NotJson, PersonRequired, WrongAnswerKind
from wf_core.ids import SessionId
from wf_core.jsonvalue import JsonValue, check
from wf_mcp.execution.sessions.errors import CallAnswered, CallExpired
from wf_mcp.execution.sessions.means import SessionMeans

logger = logging.getLogger(__name__)

_FITTING: dict[ContinuationKind, frozenset[DeliveryKind]] = {
    "deferred": frozenset({"result"}),
    "callee": frozenset({"result"}),
    "isolated": frozenset({"result", "retry"}),
    "approval": frozenset({"approval"}),
    "in_doubt": frozenset({"result", "retry"}),
}
"""Which kinds of answer each waits for. An error is taken by all: who is asked may always refuse."""

_WAITS_FOR: dict[ContinuationKind, str] = {
    "deferred": "its result",
    "callee": "its result",
    "isolated": "its result",
    "approval": "the approval of a person, after which it is carried out here",
    "in_doubt": "its result, or the word to carry it out again",
}

_PERSONS: frozenset[ContinuationKind] = frozenset({"approval", "in_doubt", "callee"})
"""Of these the outside says only what a person says. A callee answers by itself, and may be asking a person."""


def delivery_of(result: ToolResult, *, channel: str, principal: str, now: datetime) -> Delivery:
    """Give what it takes to deliver a result."""
    return Delivery(
        kind="result", result=result_to_json(result), channel=channel, principal=principal, delivered_at=now
    )


async def deliver(
    means: SessionMeans, token: str, delivery: Delivery, *, principal: str | None, by_model: bool
) -> SessionId:
    """Deliver to a call that waits, and give the id of its session. It is stored when this returns.

    Raises:
        CallNotFound, CallAnswered, CallExpired, WrongAnswerKind, PersonRequired, InvalidResult: nothing was changed.
    """
    now = means.clock.now()
    waiting = await means.continuations.load(token, principal=principal, now=now)
    if waiting.state == "open":
        _require_fitting(waiting.continuation, delivery, by_model=by_model)
    match await means.continuations.deliver(token, delivery, principal=principal, now=now):
        case "applied":
            return SessionId(waiting.continuation.session_id)
        case "already_completed":
            raise CallAnswered(token)
        case "expired":
            raise CallExpired(token)
        case "unknown":
            raise CallNotFound(token)


def _require_storable(given: JsonValue, asked: Continuation) -> None:
    """Refuse a result that the call's session could not take."""
    if read_form(given) is not None:
        return
    try:
        check(given, "result")
    except NotJson as bad:
        raise InvalidResult(
            f"This cannot be the result of the call {asked.call_id} of {asked.name}. {bad.message}",
            hint="The call still waits: deliver a flatter result, or its JSON as a text.",
            details=bad.details,
        ) from bad


def _require_fitting(asked: Continuation, delivery: Delivery, *, by_model: bool) -> None:
    refuses = delivery.kind == "result" and read_result(delivery.result).error
    if not refuses and delivery.kind not in _FITTING[asked.kind]:
        logger.warning(
            "Refused: %s for the call %s of %s, which waits for %s (channel %s, principal %s)",
            delivery.kind,
            asked.call_id,
            asked.session_id,
            _WAITS_FOR[asked.kind],
            delivery.channel,
            delivery.principal,
        )
        raise WrongAnswerKind(
            f"The call {asked.call_id} of {asked.name} waits for {_WAITS_FOR[asked.kind]}.",
            hint=f"wf session approve {asked.token} allows it; wf session fail {asked.token} refuses it."
            if asked.kind == "approval"
            else f"wf session complete {asked.token} FILE delivers its result.",
            details={"token": asked.token, "kind": asked.kind, "given": delivery.kind},
        )
    if delivery.kind == "result":
        _require_storable(delivery.result, asked)
    if by_model and asked.kind in _PERSONS:
        raise PersonRequired(
            f"Only a person may answer the call {asked.call_id} of {asked.name}.",
            hint=f"Ask the user to run: wf calls show {asked.token}",
            details={"token": asked.token},
        )
