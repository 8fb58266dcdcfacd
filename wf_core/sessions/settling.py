"""How turns follow from what has become of calls: complete partial turns, placeholders, notices, waiting words."""

from dataclasses import replace

from wf_core.calls.results import ToolResult, text_result
from wf_core.calls.tracked import FINAL, TrackedCall
from wf_core.errors import IllegalTransition
from wf_core.sessions.finding import turn_id
from wf_core.sessions.models import LlmTurn, Notice, PartialUserTurn, PlacedResult, Session, UserTurn

STILL_RUNNING = (
    "This call is still running. Its result will be told once, later, in a notice. "
    "Do not make the call again meanwhile."
)
OUTCOME_UNKNOWN = (
    "Outcome unknown: the process that made this call is gone. It may have happened; do not repeat it without asking "
    "the user. Should its outcome become known, a notice will tell."
)


def settle(session: Session) -> None:
    """Turn what has ended into what the model is told: a complete turn, and notices at once where nothing is open."""
    _notice_ended(session)
    last = session.turns[-1]
    match last:
        # From the end: most turns end in call order, and this is asked after each call.
        case PartialUserTurn(id=id, calls=calls) if all(call.state in FINAL for call in reversed(calls)):
            _place_turn(session, id, tuple(_placed(call) for call in calls))
        case LlmTurn(tool_calls=()) if session.queries or session.notices:
            session.turns.append(_told(session, turn_id(session)))
        case _:
            pass


def hold_calls(session: Session) -> None:
    """Make a user turn of the partial one, with placeholders.

    Raises:
        IllegalTransition: there is none, or one of its calls is ready or deferred.
    """
    last = session.turns[-1]
    if not holdable(session) or not isinstance(last, PartialUserTurn):
        raise IllegalTransition(
            "The model cannot be asked now: there is no partial turn, or one of its calls is ready or deferred.",
            hint="Ask the session what is to be done next.",
        )
    for call in last.calls:
        if call.state not in FINAL:
            session.held[call.id] = call
            call.doubted = call.state == "in_doubt"
    _place_turn(session, last.id, tuple(_placed(call) for call in last.calls))


def holdable(session: Session) -> bool:
    """Tell whether every call of a partial turn has ended, runs, or is in doubt."""
    last = session.turns[-1]
    return isinstance(last, PartialUserTurn) and not any(call.state in ("ready", "deferred") for call in last.calls)


def doubt_held(session: Session) -> None:
    """Tell the model of each held call in doubt that nobody knows what became of it, where it was told otherwise.

    Nobody asks it just now: a user turn that has no answer yet tells it.
    """
    doubtful = [call for call in session.held.values() if call.state == "in_doubt" and not call.doubted]
    for call in doubtful:
        call.doubted = True
        session.notices.append(Notice(call.id, call.name, text_result(OUTCOME_UNKNOWN), held=True))
    if doubtful and isinstance(session.turns[-1], UserTurn):
        join_queued(session)
    settle(session)


def join_queued(session: Session) -> None:
    """Put what waits to be told into the last turn, which is the user's and has no answer yet.

    What is in it was shown to nobody: what is known by now takes the place of a placeholder, and of a notice that says
    that nobody knows.
    """
    last = session.turns[-1]
    if not isinstance(last, UserTurn):
        raise AssertionError("words join a user turn")
    told = _told(session, last.id)
    known = {notice.call_id: notice for notice in told.notices}
    here = {placed.call_id for placed in last.results if placed.call_id in known}
    queries = [words for words in (last.query, told.query) if words is not None]
    session.turns[-1] = replace(
        last,
        results=tuple(
            replace(placed, result=known[placed.call_id].result, held=known[placed.call_id].held)
            if placed.call_id in here
            else placed
            for placed in last.results
        ),
        query="\n\n".join(queries) if queries else None,
        notices=(
            *(notice for notice in last.notices if notice.call_id not in known),
            *(notice for notice in told.notices if notice.call_id not in here),
        ),
        attachments=last.attachments + told.attachments,
    )


def _place_turn(session: Session, id: str, results: tuple[PlacedResult, ...]) -> None:
    """Put a user turn with results where the partial turn stands, with all that waits to be told."""
    session.turns[-1] = replace(_told(session, id), results=results)


def _told(session: Session, id: str) -> UserTurn:
    """Take what waits to be told."""
    queries, session.queries = session.queries, []
    notices, session.notices = session.notices, []
    attachments, session.attachments = session.attachments, []
    if queries:
        session.asked = 0
    query = "\n\n".join(queries) if queries else None
    return UserTurn(id, query, notices=tuple(notices), attachments=tuple(attachments))


def _notice_ended(session: Session) -> None:
    for call in [call for call in session.held.values() if call.state in FINAL]:
        del session.held[call.id]
        session.notices = [notice for notice in session.notices if notice.call_id != call.id]
        session.notices.append(Notice(call.id, call.name, _result(call)))


def _placed(call: TrackedCall) -> PlacedResult:
    if call.state in FINAL:
        return PlacedResult(call.id, call.provider_call_id, call.name, _result(call))
    words = OUTCOME_UNKNOWN if call.state == "in_doubt" else STILL_RUNNING
    return PlacedResult(call.id, call.provider_call_id, call.name, text_result(words), held=True)


def _result(call: TrackedCall) -> ToolResult:
    if call.result is None:
        raise AssertionError("a call that has ended has a result")
    return call.result
