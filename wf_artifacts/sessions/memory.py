"""The sessions of one process, gone when it ends. The simplest store that keeps the contract.

Records are kept as the documents that other backends store, so a value that is changed after it was stored, or after it
was loaded, changes nothing here, and what is no JSON is refused here too.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from wf_artifacts.errors import SessionBusy, SessionClaimLost, SessionExists, SessionNotFound
from wf_artifacts.sessions.models import SESSION_RECORD, SessionRecord, SessionStatus, StoredSession
from wf_artifacts.sessions.rules import COMPARED_SESSIONS, SESSIONS, belongs, require_first_state, require_next_state
from wf_artifacts.sessions.store import SessionClaim
from wf_artifacts.storage.claims import Releasable
from wf_artifacts.storage.pages import Page, collect, descending
from wf_core.ids import SessionId, close_matches


@dataclass(slots=True)
class _Session:
    record: bytes
    header: bytes
    events: list[bytes]
    claim: "MemoryClaim | None" = None


class MemoryClaim(Releasable):
    """The right to advance one session, as long as the session points back at it."""

    def __init__(self, session_id: SessionId, session: _Session) -> None:
        self.session_id = session_id
        self._session = session
        session.claim = self

    async def release(self) -> None:
        if self._session.claim is self:
            self._session.claim = None


class MemorySessions:
    """Keeps sessions in a dictionary."""

    def __init__(self) -> None:
        self._sessions: dict[SessionId, _Session] = {}

    async def create(self, record: SessionRecord, header: bytes, events: Sequence[bytes] = ()) -> SessionClaim:
        require_first_state(record, events)
        if record.session_id in self._sessions:
            raise SessionExists(record.session_id)
        session = _Session(SESSION_RECORD.encode(record), header, list(events))
        self._sessions[record.session_id] = session
        return MemoryClaim(record.session_id, session)

    async def claim(self, session_id: SessionId) -> SessionClaim:
        session = self._session(session_id)
        if session.claim is not None:
            raise SessionBusy(session_id)
        return MemoryClaim(session_id, session)

    async def is_claimed(self, session_id: SessionId) -> bool:
        return self._session(session_id).claim is not None

    async def store(
        self,
        claim: SessionClaim,
        record: SessionRecord,
        events: Sequence[bytes] = (),
        *,
        sync: bool = True,  # noqa: ARG002
    ) -> None:
        session = self._sessions.get(claim.session_id)
        if session is None or session.claim is not claim:
            raise SessionClaimLost(claim.session_id)
        require_next_state(self._record(claim.session_id), record, events)
        session.record = SESSION_RECORD.encode(record)
        session.events.extend(events)

    async def load(self, session_id: SessionId, *, principal: str | None = None) -> StoredSession:
        session = self._session(session_id, principal)
        return StoredSession(self._record(session_id), session.header, list(session.events))

    async def load_record(self, session_id: SessionId, *, principal: str | None = None) -> SessionRecord:
        self._session(session_id, principal)
        return self._record(session_id)

    async def list_sessions(
        self,
        *,
        principal: str | None,
        status: SessionStatus | None = None,
        cursor: str | None = None,
        limit: int,
    ) -> Page[SessionRecord]:
        def read(session_id: SessionId) -> SessionRecord | None:
            record = self._record(session_id)
            return record if belongs(record, principal, status) else None

        return collect(SESSIONS, descending(SESSIONS, self._sessions, cursor), read, limit)

    async def abandoned(self) -> list[SessionId]:
        idle = (session_id for session_id, session in self._sessions.items() if session.claim is None)
        return [one for one in descending(SESSIONS, idle, None) if self._record(one).status == "running"]

    async def delete(self, session_id: SessionId, *, found: SessionRecord | None = None) -> None:
        claim = self._session(session_id).claim
        if claim is not None or (found is not None and self._record(session_id) != found):
            raise SessionBusy(session_id)
        del self._sessions[session_id]

    def _session(self, session_id: SessionId, principal: str | None = None) -> _Session:
        session = self._sessions.get(session_id)
        if session is None or not belongs(self._record(session_id), principal):
            newest = descending(SESSIONS, self._sessions, None)[:COMPARED_SESSIONS]
            visible = [known for known in newest if belongs(self._record(known), principal)]
            raise SessionNotFound(session_id, close=close_matches(session_id, visible))
        return session

    def _record(self, session_id: SessionId) -> SessionRecord:
        return SESSION_RECORD.decode(self._sessions[session_id].record, f"sessions/{session_id}")
