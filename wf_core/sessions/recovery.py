"""Going on after the process that advanced a session is gone."""

from dataclasses import dataclass

from wf_core.sessions.events import TakenOver
from wf_core.sessions.finding import open_calls
from wf_core.sessions.journal import record
from wf_core.sessions.models import Session


@dataclass(frozen=True, slots=True)
class Recovered:
    """What was running when the process died. Empty when nothing was."""

    again: tuple[str, ...] = ()
    """Ids of calls that may be repeated without asking: ready."""
    in_doubt: tuple[str, ...] = ()
    """Ids of calls that nobody here knows of: each has its token."""


def recover(session: Session) -> Recovered:
    """Take over a session: calls that were running are ready again where their tool is repeatable, else in doubt.

    A model that was told that a call in doubt runs is told otherwise, once; the call's result may still come.
    """
    running = [call for call in open_calls(session) if call.state == "running"]
    if not running:
        return Recovered()
    record(session, TakenOver())
    return Recovered(
        tuple(call.id for call in running if call.state == "ready"),
        tuple(call.id for call in running if call.state == "in_doubt"),
    )
