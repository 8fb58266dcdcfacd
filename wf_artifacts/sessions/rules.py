"""What every store of sessions holds against what is to be stored, before it writes anything."""

from collections.abc import Sequence
from typing import Final

from wf_artifacts.sessions.models import SessionRecord, SessionStatus

SESSIONS: Final = "sessions"
"""The list that cursors of sessions belong to."""

COMPARED_SESSIONS: Final = 200
"""How many of the newest sessions a mistyped id is compared with."""

ENDED: Final[frozenset[SessionStatus]] = frozenset({"answered", "failed"})
"""What a session has come to whose record says all that a reader needs."""


def require_first_state(record: SessionRecord, events: Sequence[bytes]) -> None:
    """Accept what a session begins with in a store; one that comes from another may have any number of events.

    Raises:
        ValueError: record and events do not fit together.
    """
    _require_events(record, 0, events)


def require_next_state(earlier: SessionRecord, record: SessionRecord, events: Sequence[bytes]) -> None:
    """Accept what may follow a stored state.

    Raises:
        ValueError: record and events do not fit together, or do not follow the earlier record.
    """
    if (record.session_id, record.principal) != (earlier.session_id, earlier.principal):
        raise ValueError(f"a record of {record.session_id} cannot follow one of {earlier.session_id}")
    _require_events(record, earlier.position, events)


def is_event(line: bytes) -> bool:
    """Tell whether bytes may be an event: one JSON object on one line. What is in it is not looked at."""
    return line.startswith(b"{") and line.endswith(b"}") and b"\n" not in line


def belongs(record: SessionRecord, principal: str | None, status: str | None = None) -> bool:
    """Tell whether a session is among those that are asked for; None asks for all."""
    return principal in {None, record.principal} and status in {None, record.status}


def _require_events(record: SessionRecord, count: int, events: Sequence[bytes]) -> None:
    if record.position != count + len(events):
        raise ValueError(f"{len(events)} events after {count} do not make {record.position}")
    if not all(map(is_event, events)):
        raise ValueError("an event is one JSON object on one line")
