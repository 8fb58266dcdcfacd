"""What is read of one session in a database, in one transaction.

Every function raises SessionNotFound where there is no such session, and StateCorrupt or FormatTooNew naming the row
that cannot be read. Columns that are looked up hold ids and digests only: a principal may be any text.
"""

from wf_artifacts.errors import SessionNotFound
from wf_artifacts.sessions.decoding import decode
from wf_artifacts.sessions.models import SESSION_RECORD, SessionRecord, StoredSession
from wf_artifacts.sessions.rules import COMPARED_SESSIONS, is_event
from wf_artifacts.storage.connections import Row
from wf_artifacts.storage.database import Transaction
from wf_artifacts.storage.digests import bytes_digest, principal_digest
from wf_artifacts.storage.documents import corrupt
from wf_artifacts.storage.rows import blob, checked
from wf_core.ids import SessionId, close_matches, is_id


def find(transaction: Transaction, name: str, session_id: SessionId, *, principal: str | None = None) -> Row:
    """Give the row that a statement finds for a session; with a principal, the sessions of others do not exist."""
    asked = principal_digest(principal)
    row = transaction.row(name, session_id=session_id, principal=asked) if is_id(session_id) else None
    if row is None:
        newest = transaction.rows("newest_sessions", principal=asked, limit=COMPARED_SESSIONS)
        raise SessionNotFound(session_id, close=close_matches(session_id, (known for (known,) in newest)))
    return row


def read_record(row: Row) -> SessionRecord:
    """Read a session whose columns a statement gives in the order of `session`.

    Raises:
        StateCorrupt, FormatTooNew: the record cannot be read, or is another's.
    """
    session_id, principal, status, position, document = row
    where = f"sessions/{session_id}"
    stored = blob(document, where)
    record = decode(SESSION_RECORD, stored, where, session_id=session_id, status=status, position=position)
    if principal_digest(record.principal) != principal:
        raise corrupt(where, "it belongs to somebody else")
    return record


def record(transaction: Transaction, session_id: SessionId, *, principal: str | None = None) -> SessionRecord:
    """Read its record."""
    return read_record(find(transaction, "session", session_id, principal=principal))


def header(transaction: Transaction, session_id: SessionId) -> bytes:
    """Read its header."""
    digest, found = find(transaction, "session_header", session_id)
    where = f"session_headers/{session_id}"
    data = blob(found, where)
    if bytes_digest(data) != digest:
        raise corrupt(where, "it is not what the session was created with")
    return data


def events(transaction: Transaction, session_id: SessionId) -> list[bytes]:
    """Read its events."""
    *_, position, _ = find(transaction, "session", session_id)
    rows = transaction.rows("session_events", session_id=session_id)
    lines: list[bytes] = []
    for number, event, checksum in rows:
        if number != len(lines):
            break
        where = f"session_events/{session_id}/{number}"
        line = checked(event, checksum, where)
        if not is_event(line):
            raise corrupt(where, "it is no event")
        lines.append(line)
    if len(lines) != position:
        raise corrupt(f"session_events/{session_id}/{len(lines)}", "it is missing")
    return lines


def whole(transaction: Transaction, session_id: SessionId, *, principal: str | None = None) -> StoredSession:
    """Read everything that is kept of it."""
    found = record(transaction, session_id, principal=principal)
    return StoredSession(found, header(transaction, session_id), events(transaction, session_id))
