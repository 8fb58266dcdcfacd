"""Asking the model although calls have not ended: each is given a placeholder once, and told of later, once."""

from wf_core.sessions.events import Held
from wf_core.sessions.journal import record
from wf_core.sessions.models import Session


def hold(session: Session) -> None:
    """Make a user turn of a partial one: calls that run or are in doubt get a placeholder and move to `session.held`.

    Raises:
        IllegalTransition: there is no partial turn, or one of its calls is ready or deferred.
    """
    record(session, Held())
