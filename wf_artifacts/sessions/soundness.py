"""What is wrong with the sessions in a database, and how it is mended.

As in a file tree, a row that cannot be read ends a session: a repair moves it to lost+found, whole, because nobody can
go on with it. Of one that has its answer, or has failed, the record can still be shown, so it stays.
"""

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Final

from wf_artifacts.errors import SessionNotFound
from wf_artifacts.sessions import reading
from wf_artifacts.sessions.models import SessionRecord
from wf_artifacts.sessions.rules import ENDED
from wf_artifacts.storage.connections import Row
from wf_artifacts.storage.database import Database, Transaction
from wf_artifacts.storage.findings import MOVES_IT, MOVES_SESSION, Fault, Finding
from wf_artifacts.storage.rows import LAST, examine
from wf_core.errors import StateCorrupt
from wf_core.ids import SessionId

_SESSIONS: Final = 100
"""How many sessions are looked at in one go."""

Read = Callable[[Transaction, SessionId], object]


def faults(database: Database) -> Iterator[Fault]:
    """Read everything, the newest session first, and give each row that is not as it should be."""
    before = LAST
    while True:
        with database.reading() as transaction:
            rows = transaction.rows("list_sessions", before=before, limit=_SESSIONS, principal=None, status=None)
        for row in rows:
            yield from _session_faults(database, row)
        if len(rows) < _SESSIONS:
            break
        before = rows[-1][0]
    yield from _orphans(database)


def _session_faults(database: Database, row: Row) -> Iterator[Fault]:
    """Look at one session. It may go on, or be deleted, meanwhile."""
    session_id, ended = SessionId(row[0]), row[2] in ENDED
    unreadable = _examine(database, session_id, {"sessions": _record}, ended=False)
    yield from unreadable
    if unreadable:
        return
    needed: dict[str, Read] = {"session_headers": reading.header, "session_events": reading.events}
    yield from _examine(database, session_id, needed, ended=ended)
    yield from _surplus(database, session_id)


def _examine(database: Database, session_id: SessionId, documents: dict[str, Read], *, ended: bool) -> list[Fault]:
    """Give the documents of a session that cannot be read as it is at one moment."""
    with database.reading() as transaction:
        return [
            fault
            for name, read in documents.items()
            for fault in examine(
                f"{name}/{session_id}",
                partial(read, transaction, session_id),
                None if ended else MOVES_SESSION,
                None if ended else partial(_take_away, database, session_id, read),
            )
        ]


def _record(transaction: Transaction, session_id: SessionId) -> SessionRecord:
    """Read a record, also one whose id is none."""
    row = transaction.row("session", session_id=session_id, principal=None)
    if row is None:
        raise SessionNotFound(session_id)
    return reading.read_record(row)


def _take_away(database: Database, session_id: SessionId, read: Read) -> None:
    """Move a session to lost+found, unless somebody has it or it can be read by now."""
    with _holding(database, session_id) as (transaction, session):
        if session is None:
            return
        try:
            read(transaction, session_id)
        except StateCorrupt:
            _keep(transaction, session)
            transaction.change("delete_session", session=session)


def _surplus(database: Database, session_id: SessionId) -> Iterator[Fault]:
    """Look for events behind the last one that counts."""

    def cut() -> None:
        with _holding(database, session_id) as (transaction, session):
            end = transaction.row("surplus_events", session_id=session_id)
            if session is not None and end is not None:
                transaction.change("keep_session_events", session=session, first=end[0])
                transaction.change("delete_session_events", session=session, first=end[0])

    with database.reading() as transaction:
        row = transaction.row("surplus_events", session_id=session_id)
    if row and row[1]:
        problem = f"It has {row[1]} events behind its end that do not count."
        document = f"session_events/{session_id}"
        yield Fault(Finding(document, "leftover", problem, "Moves these events to lost+found."), cut)


def _orphans(database: Database) -> Iterator[Fault]:
    """Look for rows of sessions that are gone: only a hand that switched the rules of the database off leaves them."""

    def take_away(session: int) -> None:
        with _repairing(database) as transaction:
            _keep(transaction, session)
            transaction.change("delete_session_header", session=session)
            transaction.change("delete_session_events", session=session, first=0)

    with database.reading() as transaction:
        orphans = transaction.rows("orphaned_session_rows")
    for (session,) in orphans:
        document = f"rows of session number {session}"
        finding = Finding(document, "orphaned", "There is no session of this number.", MOVES_IT)
        yield Fault(finding, partial(take_away, session))


def _keep(transaction: Transaction, session: int) -> None:
    """Copy every row of a session to lost+found."""
    transaction.change("keep_session", session=session)
    transaction.change("keep_session_header", session=session)
    transaction.change("keep_session_events", session=session, first=0)


@contextmanager
def _holding(database: Database, session_id: SessionId) -> Generator[tuple[Transaction, int | None]]:
    """Let nobody else go on with a session, and give its number; None where somebody has it, or it is gone."""
    with _repairing(database) as transaction:
        yield transaction, _take(database, transaction, session_id)


def _take(database: Database, transaction: Transaction, session_id: SessionId) -> int | None:
    claim = transaction.row("claim_on_session", session_id=session_id)
    if claim is None:
        return None
    session, fence, owner, held = claim
    if held and not database.has_died(owner):
        return None
    return session if transaction.change("take_session", session=session, fence=fence, owner=None) else None


@contextmanager
def _repairing(database: Database) -> Generator[Transaction]:
    """Change the database while no other repair does."""
    with database.writing() as transaction:
        transaction.change("lock_repairs")
        yield transaction
