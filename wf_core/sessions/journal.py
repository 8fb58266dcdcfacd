"""How a transition comes about: its event is written, applied, and kept for the store, in this order."""

from wf_core.jsonvalue import dumps
from wf_core.sessions.applying import apply
from wf_core.sessions.events import Event, event_to_json
from wf_core.sessions.models import Session


def record(session: Session, event: Event) -> None:
    """Apply an event and keep its line.

    Raises:
        SessionRefused: one of its kinds; nothing was changed, and no line was made.
    """
    line = dumps(event_to_json(event))
    apply(session, event)
    session.fresh_events.append(line)
