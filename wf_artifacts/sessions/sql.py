"""The sessions in a database: one row each, one for its header, and one for each event."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from zlib import crc32

from anyio import CapacityLimiter

from wf_artifacts.errors import SessionBusy, SessionClaimLost, SessionExists
from wf_artifacts.sessions import reading, soundness
from wf_artifacts.sessions.heads import SessionHeads
from wf_artifacts.sessions.models import SESSION_RECORD, SessionRecord, SessionStatus, StoredSession
from wf_artifacts.sessions.reading import read_record
from wf_artifacts.sessions.rules import SESSIONS, require_first_state, require_next_state
from wf_artifacts.sessions.store import SessionClaim
from wf_artifacts.storage.connections import Row
from wf_artifacts.storage.database import Database
from wf_artifacts.storage.digests import bytes_digest, principal_digest
from wf_artifacts.storage.fences import FIRST_FENCE
from wf_artifacts.storage.findings import Fault
from wf_artifacts.storage.owners import LEASE, Lease, bury
from wf_artifacts.storage.pages import Page
from wf_artifacts.storage.rows import LAST, list_rows
from wf_artifacts.storage.statements import Parameters
from wf_artifacts.storage.threads import in_thread
from wf_core.errors import StateError
from wf_core.ids import SessionId


class SqlSessions:
    """Keeps sessions in a database. Whoever opened the database closes it."""

    def __init__(self, database: Database, lease: Lease = LEASE) -> None:
        self._database = database
        self._heads = SessionHeads(database, lease)

    @property
    def threads(self) -> CapacityLimiter:
        return self._database.threads

    def close(self) -> None:
        """Give up every claim."""
        self._heads.owner.close()

    def faults(self) -> Iterator[Fault]:
        """Look at everything that is kept of sessions."""
        return soundness.faults(self._database)

    @in_thread
    def create(self, record: SessionRecord, header: bytes, events: Sequence[bytes] = ()) -> SessionClaim:
        require_first_state(record, events)
        document = SESSION_RECORD.encode(record)
        self._heads.owner.appear()
        with self._database.writing() as transaction:
            self._heads.owner.renew(transaction)
            if not transaction.change(
                "insert_session",
                session_id=record.session_id,
                principal=principal_digest(record.principal),
                status=record.status,
                position=record.position,
                owner=self._heads.owner.name,
                record=document,
            ):
                raise SessionExists(record.session_id)
            ((session,),) = transaction.rows("number_of_session", session_id=record.session_id)
            transaction.change("insert_session_header", session=session, digest=bytes_digest(header), header=header)
            transaction.change_many("insert_event", _event_rows(session, 0, events))
        return self._heads.claimed(record.session_id, session, FIRST_FENCE)

    @in_thread
    def claim(self, session_id: SessionId) -> SessionClaim:
        return self._heads.claim(session_id)

    @in_thread
    def is_claimed(self, session_id: SessionId) -> bool:
        return self._heads.is_claimed(session_id)

    @in_thread
    def store(
        self, claim: SessionClaim, record: SessionRecord, events: Sequence[bytes] = (), *, sync: bool = True
    ) -> None:
        document = SESSION_RECORD.encode(record)
        held = self._heads.mine(claim)
        with self._heads.holding(held), self._database.writing(sync=sync) as transaction:
            row = transaction.row("claimed_session", **held.place)
            if row is None:
                raise SessionClaimLost(claim.session_id)
            earlier = read_record(row)
            require_next_state(earlier, record, events)
            # Nothing but this statement holds the row for us: the claim may have passed on since it was read.
            if not transaction.change(
                "update_session", **held.place, status=record.status, position=record.position, record=document
            ):
                raise SessionClaimLost(claim.session_id)
            transaction.change_many("insert_event", _event_rows(held.number, earlier.position, events))

    @in_thread
    def load(self, session_id: SessionId, *, principal: str | None = None) -> StoredSession:
        with self._database.reading() as transaction:
            return reading.whole(transaction, session_id, principal=principal)

    @in_thread
    def load_record(self, session_id: SessionId, *, principal: str | None = None) -> SessionRecord:
        with self._database.reading() as transaction:
            return reading.record(transaction, session_id, principal=principal)

    @in_thread
    def list_sessions(
        self,
        *,
        principal: str | None,
        status: SessionStatus | None = None,
        cursor: str | None = None,
        limit: int,
    ) -> Page[SessionRecord]:
        with self._database.reading() as transaction:

            def fetch(before: str, limit: int) -> list[Row]:
                asked = principal_digest(principal)
                return transaction.rows("list_sessions", before=before, limit=limit, principal=asked, status=status)

            return list_rows(SESSIONS, fetch, read_record, start=LAST, cursor=cursor, limit=limit)

    @in_thread
    def abandoned(self) -> list[SessionId]:
        bury(self._database)
        with self._database.reading() as transaction:
            rows = transaction.rows("abandoned_sessions")
        found: list[SessionId] = []
        for row in rows:
            with suppress(StateError):
                found.append(read_record(row).session_id)
        return found

    @in_thread
    def delete(self, session_id: SessionId, *, found: SessionRecord | None = None) -> None:
        with self._database.writing() as transaction:
            session, _ = self._heads.take(transaction, session_id)
            if found is not None and reading.record(transaction, session_id) != found:
                raise SessionBusy(session_id)
            transaction.change("delete_session", session=session)


def _event_rows(session: int, first: int, events: Sequence[bytes]) -> list[Parameters]:
    """Give what `insert_event` stores of events, of which the first has the number `first`."""
    return [
        {"session": session, "number": number, "event": event, "crc32": crc32(event)}
        for number, event in enumerate(events, first)
    ]
