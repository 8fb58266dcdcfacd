"""How a session's state is told in its stored record: what lists and summaries read without loading the session."""

from datetime import datetime
from typing import Any

from wf_artifacts.sessions.models import PendingCall, SessionRecord, SessionStatus
from wf_artifacts.sessions.rules import ENDED
from wf_core.calls.tracked import TrackedCall
from wf_core.sessions import AskModel, RunCalls, Session, Stop, next_action, open_calls


def describe(
    session: Session,
    before: SessionRecord,
    *,
    now: datetime,
    status: SessionStatus | None = None,
    error: dict[str, Any] | None = None,
    auto: bool | None = None,
) -> SessionRecord:
    """Bring a record up to what `session` is now. `status` None: as it is while nobody advances it."""
    goes_on_again = before.status in ENDED and status not in ENDED and at_rest(session) not in ENDED
    stop = next_action(session)
    ended = stop.error if isinstance(stop, Stop) else None
    told = {
        "status": at_rest(session) if status is None else status,
        "answer": stop.answer if isinstance(stop, Stop) else None,
        "error": error if ended is None else {"code": ended.code, "message": ended.message},
        "turns": len(session.turns),
        "position": session.position,
        "auto": before.auto if auto is None else auto,
        "pending": _all_pending(session, before),
        # Whoever called it has heard of its end: what comes after that is between it and its user.
        "parent": None if goes_on_again else before.parent,
        "updated_at": now,
    }
    return before.model_copy(update=told)


def at_rest(session: Session) -> SessionStatus:
    """Say where a session stands while nobody advances it."""
    match next_action(session):
        case AskModel() | RunCalls():
            return "ready"
        case Stop(error=None):
            return "answered"
        case Stop():
            return "failed"
        case _:
            return "waiting"


def _all_pending(session: Session, before: SessionRecord) -> tuple[PendingCall, ...]:
    """Tell the open calls. What was told of one before is told again while it is so; in a copy its token is another."""
    known = {(told.call_id, told.state, told.token): told for told in before.pending}
    return tuple(
        [known.get((call.id, call.state, _token(call))) or _pending(session, call) for call in open_calls(session)]
    )


def _pending(session: Session, call: TrackedCall) -> PendingCall:
    tool = session.agent.tool(call.name)
    return PendingCall(
        call_id=call.id,
        name=call.name,
        capability=None if tool is None else tool.capability,
        state=call.state,
        token=_token(call),
    )


def _token(call: TrackedCall) -> str | None:
    return call.continuation_token if call.state in {"deferred", "in_doubt"} else None
