"""What an event does to a session. Whatever is not allowed is refused before anything changes.

Transitions make an event and apply it; a stored session is replayed by applying its events: there is no other way in
which a session changes.
"""

from collections.abc import Sequence

from wf_core.calls.results import ToolResult, text_result
from wf_core.calls.tracked import TrackedCall, advance, ending, next_state
from wf_core.errors import IllegalTransition, MaxTurnsReached
from wf_core.sessions.deliveries import Approved, Delivered, Delivery, Retried, check_delivery
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
from wf_core.sessions.finding import find_call, open_calls, turn_id
from wf_core.sessions.models import LlmTurn, PartialUserTurn, Session, UserTurn
from wf_core.sessions.settling import doubt_held, hold_calls, join_queued, settle
from wf_core.sessions.tokens import token_of

NOT_ANSWERED = "Nobody answered this call in time; it was given up."


def apply(session: Session, event: Event) -> None:
    """Change a session as an event says, and count it.

    Raises:
        SessionRefused: one of its kinds; nothing was changed.
    """
    if isinstance(event, (Started, Forked)) != (session.position == 0):
        raise IllegalTransition("A session is started once, and first of all.")
    match event:
        case Started():
            session.turns.append(UserTurn("t0", event.query, attachments=event.attachments))
        case Forked():
            _fork(session, event)
        case Said():
            _say(session, event)
        case Answered():
            _answer(session, event)
        case Held():
            hold_calls(session)
        case TakenOver():
            take_over(session)
        case _:
            _apply_to_calls(session, event)
    session.position += 1


def take_over(session: Session) -> None:
    """Put every running call where its process' death leaves it, and have the model told of it."""
    for call in open_calls(session):
        if call.state == "running":
            tool = session.agent.tool(call.name)
            repeatable = tool is not None and tool.repeatable
            advance(call, "wake" if repeatable else "doubt")
            if not repeatable and call.continuation_token is None:
                call.continuation_token = token_of(session, call.id)
    doubt_held(session)


def require_askable(session: Session) -> None:
    """Refuse an answer to what was not asked.

    Raises:
        IllegalTransition, MaxTurnsReached
    """
    if not isinstance(session.turns[-1], UserTurn):
        raise IllegalTransition(
            "The model was not asked: the last turn is not the user's.",
            hint="Ask the session what is to be done next.",
        )
    if session.asked >= session.agent.max_turns:
        raise MaxTurnsReached(
            f"The model has answered {session.asked} times since the user spoke last: as often as the agent allows.",
            hint="Say something to the session to let it go on, or raise `maxTurns` for new sessions.",
            details={"max_turns": session.agent.max_turns},
        )


def _fork(session: Session, event: Forked) -> None:
    state = event.state
    session.turns = state.turns
    session.held = state.held
    session.queries = state.queries
    session.attachments = state.attachments
    session.notices = state.notices
    session.asked = state.asked
    session.provider_ids = state.provider_ids


def _say(session: Session, event: Said) -> None:
    if event.joins and not isinstance(session.turns[-1], UserTurn):
        raise IllegalTransition("There is no user turn without an answer that words could join.")
    session.queries.append(event.query)
    session.attachments += event.attachments
    if event.joins:
        join_queued(session)
    settle(session)


def _answer(session: Session, event: Answered) -> None:
    require_askable(session)
    asked_ids = [asked.call.provider_call_id for asked in event.calls]
    if not all(asked_ids) or len(set(asked_ids)) < len(asked_ids) or not session.provider_ids.isdisjoint(asked_ids):
        raise IllegalTransition("A provider call id is empty or not new.")
    for asked in event.calls:
        _require_pinned(session, asked)
    session.turns.append(LlmTurn(turn_id(session), event.text, tuple(asked.call for asked in event.calls), event.usage))
    session.asked += 1
    session.provider_ids.update(asked_ids)
    if event.calls:
        turn = turn_id(session)
        session.turns.append(
            PartialUserTurn(turn, [_track(f"{turn}.{index}", asked) for index, asked in enumerate(event.calls)])
        )
    settle(session)


def _require_pinned(session: Session, asked: AskedCall) -> None:
    tool = session.agent.tool(asked.call.name)
    if asked.call.capability != ("" if tool is None else tool.capability):
        raise IllegalTransition(f"The tool {asked.call.name!r} is not pinned to {asked.call.capability!r}.")
    if tool is None and asked.fault is None:
        raise IllegalTransition(f"There is no tool {asked.call.name!r} that could be called.")


def _track(call_id: str, asked: AskedCall) -> TrackedCall:
    said = asked.call
    call = TrackedCall(call_id, said.provider_call_id, said.name, said.arguments, asked.policy)
    if asked.fault is not None:
        _end(call, text_result(asked.fault, error=True))
    return call


def _apply_to_calls(
    session: Session, event: Begun | Completed | Deferred | Doubted | Released | Expired | Woken
) -> None:
    match event:
        case Begun(calls):
            _begin(session, calls)
        case Completed(call_id, result):
            call = find_call(session, call_id)
            if call.state in ("deferred", "in_doubt"):
                check_delivery(call, Delivered(result))
            _end(call, result)
        case Deferred():
            _defer(session, event)
        case Doubted() | Released():
            _change_deferred(session, event)
        case Expired(call_id):
            call = find_call(session, call_id)
            advance(call, "expire")
            call.result = text_result(NOT_ANSWERED, error=True)
        case Woken(deliveries):
            _wake(session, deliveries)
    settle(session)


def _begin(session: Session, call_ids: Sequence[str]) -> None:
    calls = [find_call(session, call_id) for call_id in call_ids]
    if not calls or len(set(call_ids)) < len(calls):
        raise IllegalTransition("A call begins once, and there is at least one.")
    for call in calls:
        next_state(call, "begin")
    for call in calls:
        advance(call, "begin")


def _defer(session: Session, event: Deferred) -> None:
    call = find_call(session, event.call)
    next_state(call, "defer")
    if not event.token or _is_of_another(session, call, event.token):
        raise IllegalTransition("A token is not empty and answers one call.")
    advance(call, "defer")
    call.continuation_token = event.token
    call.reason = event.reason


def _is_of_another(session: Session, call: TrackedCall, token: str) -> bool:
    """Tell whether a token answers another open call, or is to. A call's own is its alone, however many are open."""
    if token == token_of(session, call.id):
        return False
    others = (other for other in open_calls(session) if other is not call)
    return any(token in (other.continuation_token, token_of(session, other.id)) for other in others)


def _change_deferred(session: Session, event: Doubted | Released) -> None:
    call, released = find_call(session, event.call), isinstance(event, Released)
    next_state(call, "wake" if released else "doubt")
    if call.state != "deferred":
        done = "released" if released else "doubted because of its callee"
        raise IllegalTransition(f"The call {call.id} is {call.state}: only a deferred one is {done}.")
    if isinstance(event, Released):
        _let_go(call)
    else:
        advance(call, "doubt")
        call.reason = event.reason


def _wake(session: Session, deliveries: Sequence[tuple[str, Delivery]]) -> None:
    if not deliveries or len({call_id for call_id, _ in deliveries}) < len(deliveries):
        raise IllegalTransition("A call is answered once, and there is at least one answer.")
    found = [(find_call(session, call_id), delivery) for call_id, delivery in deliveries]
    for call, delivery in found:
        next_state(call, "wake")
        check_delivery(call, delivery)
    for call, delivery in found:
        match delivery:
            case Delivered(result):
                _end(call, result)
            case Approved() | Retried():
                _let_go(call)


def _end(call: TrackedCall, result: ToolResult) -> None:
    advance(call, ending(call, result))
    call.result = result


def _let_go(call: TrackedCall) -> None:
    advance(call, "wake")
    call.released = True
