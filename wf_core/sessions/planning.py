"""What is to be done next with a session. Nothing is changed by asking, and asking costs no more in a long one."""

from dataclasses import dataclass
from typing import TypeAlias

from wf_core.calls.tracked import TrackedCall
from wf_core.sessions.models import Session


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
    """The model has answered, or may not be asked any more before the user speaks."""

    answer: str | None
    error: SessionError | None = None


Action: TypeAlias = AskModel | RunCalls | Wait | Stop


def next_action(session: Session) -> Action:
    """Say what is to be done next.

    `RunCalls` while a call is ready; else `AskModel` (or `Stop` with the error `max_turns`) when the last turn is the
    user's; else `Wait` while calls have no result, also where the model has answered and only calls of earlier turns
    are open; else `Stop` with the answer.
    """
    raise NotImplementedError
