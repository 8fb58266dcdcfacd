"""Another session that goes on from where one stands."""

from collections.abc import Collection
from dataclasses import replace

from wf_core.calls.tracked import TrackedCall, advance
from wf_core.sessions.applying import take_over
from wf_core.sessions.events import Forked
from wf_core.sessions.journal import record
from wf_core.sessions.models import PartialUserTurn, Session, Turn
from wf_core.sessions.tokens import token_of


def fork(session: Session, *, id: str, seed: str, begun: Collection[str] = ()) -> Session:
    """Copy a session. Open calls keep their place and get other tokens; what runs is the original's, here as `recover`.

    `begun` names ready and deferred calls that go on elsewhere for the original: in the copy they are in doubt.
    The copy has no parent. Its first event holds its whole state; `session` is left as it is.
    """
    state = Session(
        id,
        seed,
        session.agent,
        turns=[_copied(turn) for turn in session.turns],
        held={call.id: replace(call) for call in session.held.values()},
        queries=list(session.queries),
        attachments=list(session.attachments),
        notices=list(session.notices),
        asked=session.asked,
        provider_ids=set(session.provider_ids),
        callers=session.callers,
    )
    take_over(state)
    for call in _calls(state):
        if call.id in begun:
            _doubt(call, session.id)
        if call.continuation_token is not None or call.id in begun:
            call.continuation_token = token_of(state, call.id)
    made = Session(id, seed, session.agent, callers=session.callers)
    record(made, Forked(session.id, state))
    return made


def _doubt(call: TrackedCall, origin: str) -> None:
    """Leave what a call of the original began to the original."""
    if call.state == "ready":
        advance(call, "begin")
    advance(call, "doubt")
    call.reason = f"the session {origin}, of which this is a copy, made it"


def _copied(turn: Turn) -> Turn:
    if isinstance(turn, PartialUserTurn):
        return PartialUserTurn(turn.id, [replace(call) for call in turn.calls])
    return turn


def _calls(session: Session) -> list[TrackedCall]:
    last = session.turns[-1]
    return [*session.held.values(), *(last.calls if isinstance(last, PartialUserTurn) else ())]
