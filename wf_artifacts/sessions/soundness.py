"""What is wrong with the sessions in a database, and how it is mended.

As in a file tree, a row that cannot be read ends a session: a repair moves it to lost+found, whole, because nobody can
go on with it. Of one that has its answer, or has failed, the record can still be shown, so it stays.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from wf_artifacts.errors import SessionNotFound
from wf_artifacts.sessions import reading
from wf_artifacts.sessions.models import SessionRecord
from wf_artifacts.sessions.rules import ENDED
from wf_artifacts.storage.connections import Row
from wf_artifacts.storage.database import Database, Transaction
from wf_artifacts.storage.findings import MOVES_SESSION, Fault
from wf_artifacts.storage.repairs import Family, Read, Tail, every_row
from wf_artifacts.storage.rows import LAST
from wf_core.ids import SessionId

_NEEDED: Final[dict[str, Read[SessionId]]] = {"session_headers": reading.header, "session_events": reading.events}


def faults(database: Database) -> Iterator[Fault]:
    """Read everything, the newest session first, and give each row that is not as it should be."""
    sessions = Family[SessionId](
        database,
        "session",
        repair=MOVES_SESSION,
        keep=("keep_session", "keep_session_header"),
        delete=("delete_session_header",),
        orphans="orphaned_session_rows",
        tail=Tail("events", find="surplus_events", keep="keep_session_events", delete="delete_session_events"),
    )
    for row in every_row(database, _list, start=LAST):
        yield from _session_faults(sessions, row)
    yield from sessions.orphans()


def _list(transaction: Transaction, before: str, limit: int) -> Sequence[Row]:
    return transaction.rows("list_sessions", before=before, limit=limit, principal=None, status=None)


def _session_faults(sessions: Family[SessionId], row: Row) -> Iterator[Fault]:
    """Look at one session. It may go on, or be deleted, meanwhile."""
    session_id, ended = SessionId(row[0]), row[2] in ENDED
    unreadable = sessions.unreadable(session_id, {"sessions": _record}, ended=False)
    yield from unreadable
    if unreadable:
        return
    yield from sessions.unreadable(session_id, _NEEDED, ended=ended)
    yield from sessions.surplus(session_id, f"session_events/{session_id}")


def _record(transaction: Transaction, session_id: SessionId) -> SessionRecord:
    """Read a record, also one whose id is none."""
    row = transaction.row("session", session_id=session_id, principal=None)
    if row is None:
        raise SessionNotFound(session_id)
    return reading.read_record(row)
