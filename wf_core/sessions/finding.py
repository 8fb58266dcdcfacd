"""Finding the calls of a session without reading its history."""

from wf_core.calls.tracked import FINAL, TrackedCall
from wf_core.errors import CallAlreadyCompleted, UnknownCall
from wf_core.sessions.models import PartialUserTurn, Session, UserTurn

_LONGEST_ID = 40
"""Characters of the id of a call, and more than any has: a longer number is not read."""


def turn_id(session: Session) -> str:
    """Name the next turn: by its place."""
    return f"t{len(session.turns)}"


def find_call(session: Session, call_id: str) -> TrackedCall:
    """Give an open call, or an ended one of a turn that is partial still.

    Raises:
        UnknownCall: there never was such a call.
        CallAlreadyCompleted: the model has its result.
    """
    held = session.held.get(call_id)
    if held is not None:
        return held
    place = _place(call_id)
    if place is not None and place[0] < len(session.turns):
        match session.turns[place[0]]:
            case PartialUserTurn(calls=calls) if place[1] < len(calls):
                return calls[place[1]]
            case UserTurn(results=results) if place[1] < len(results):
                raise CallAlreadyCompleted(
                    f"The call {call_id} of {results[place[1]].name} has ended.",
                    hint="What was told first stays.",
                    details={"call_id": call_id},
                )
            case _:
                pass
    raise UnknownCall(
        f"The session {session.id} has no call {call_id!r}.",
        hint="Look at what is pending.",
        details={"call_id": call_id},
    )


def open_calls(session: Session) -> list[TrackedCall]:
    """Give every call that has not ended, those that are held first, then in call order."""
    last = session.turns[-1] if session.turns else None
    here = [call for call in last.calls if call.state not in FINAL] if isinstance(last, PartialUserTurn) else []
    return [*session.held.values(), *here] if session.held else here


def _place(call_id: str) -> tuple[int, int] | None:
    """Read the turn's place and the call's index in it."""
    turn, _, index = call_id.removeprefix("t").partition(".")
    if len(call_id) > _LONGEST_ID or not (turn.isdecimal() and index.isdecimal()):
        return None
    place = int(turn), int(index)
    return place if f"t{place[0]}.{place[1]}" == call_id else None
