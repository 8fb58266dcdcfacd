"""Sessions to store, each as small as it can be."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from tests.wf_artifacts.samples import NOW
from wf_artifacts.sessions.models import SessionRecord
from wf_artifacts.sessions.store import SessionStore
from wf_core.ids import SessionId, session_id

HEADER = b'{"format":"wf.session","version":1,"body":{"agent":"helper"}}'


def new_session_id(number: int = 0, at: datetime = NOW) -> SessionId:
    return session_id(at, number)


def session(session_id: SessionId | None = None, **fields: Any) -> SessionRecord:
    """A session that has just begun."""
    known: dict[str, Any] = {
        "session_id": session_id or new_session_id(),
        "principal": "local",
        "agent": "helper",
        "status": "ready",
        "created_at": NOW,
        "updated_at": NOW,
    }
    return SessionRecord.model_validate(known | fields)


def events(count: int = 1, *, since: int = 0) -> list[bytes]:
    """Events, of which `since` came before."""
    return [b'{"n":%d,"kind":"begin"}' % number for number in range(since, since + count)]


def moved(earlier: SessionRecord, count: int = 1, **fields: Any) -> SessionRecord:
    """The record that follows so many more events."""
    return SessionRecord.model_validate(earlier.model_dump() | {"position": earlier.position + count} | fields)


async def begin_and_release(sessions: SessionStore, *begun: SessionRecord, given: Sequence[bytes] = ()) -> None:
    """Create sessions that nobody advances."""
    for one in begun:
        claim = await sessions.create(one.model_copy(update={"position": len(given)}), HEADER, given)
        await claim.release()
