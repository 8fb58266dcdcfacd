"""What is to be done next with a session. Nothing is changed by asking, and asking costs no more in a long one."""

from dataclasses import dataclass
from typing import TypeAlias

from wf_core.calls.tracked import TrackedCall
from wf_core.sessions.finding import open_calls
from wf_core.sessions.models import LlmTurn, Session, UserTurn
from wf_core.sessions.settling import holdable


@dataclass(frozen=True, slots=True)
class AskModel:
    """Ask the model with the session's turns, then tell `answer`."""

    session: Session


@dataclass(frozen=True, slots=True)
class RunCalls:
    """Begin these, or defer them: every call that is ready, those of earlier turns first, each turn's in call order."""

    calls: tuple[TrackedCall, ...]


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing can be done here before a call ends."""

    tokens: tuple[str, ...]
    """Of the calls that wait for the outside: deferred, then in doubt."""
    running: tuple[str, ...]
    """Ids of the calls that run."""
    holdable: bool
    """Whether `hold` may be called now, so that the model is asked although calls have not ended."""


@dataclass(frozen=True, slots=True)
class SessionError:
    """Why a session stops without an answer."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Stop:
    """The model has answered, or may not be asked any more before the user speaks. Calls may be in doubt still."""

    answer: str | None
    error: SessionError | None = None


Action: TypeAlias = AskModel | RunCalls | Wait | Stop


def next_action(session: Session) -> Action:
    """Say what is to be done next.

    `RunCalls` while a call is ready; else `AskModel` (or `Stop` with the error `max_turns`) when the last turn is the
    user's; else `Wait` while calls have no result, also where the model has answered and calls of earlier turns run;
    else `Stop` with the answer. Calls in doubt, of which the model was told, keep no answer back: nobody may ever say
    what became of them, and who does makes the session go on.
    """
    is_open = open_calls(session)
    ready = tuple([call for call in is_open if call.state == "ready"])
    if ready:
        return RunCalls(ready)
    last = session.turns[-1]
    if isinstance(last, UserTurn):
        return AskModel(session) if session.asked < session.agent.max_turns else Stop(None, _too_many(session))
    if isinstance(last, LlmTurn) and all(call.state == "in_doubt" for call in is_open):
        return Stop(last.text)
    if is_open:
        return _wait(session, is_open)
    raise AssertionError("a partial turn whose calls have all ended is a user turn")


def _wait(session: Session, is_open: list[TrackedCall]) -> Wait:
    waiting = [call for state in ("deferred", "in_doubt") for call in is_open if call.state == state]
    return Wait(
        tuple(call.continuation_token for call in waiting if call.continuation_token is not None),
        tuple(call.id for call in is_open if call.state == "running"),
        holdable(session),
    )


def _too_many(session: Session) -> SessionError:
    return SessionError(
        "max_turns",
        f"The model has answered {session.asked} times since the user spoke last: as often as the agent allows.",
    )
