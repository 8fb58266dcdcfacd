"""Sessions made ready to go on: read from their store, or remembered from the last time that they were held here.

A session that is remembered is used only where the store says that nobody has advanced it since.
"""

from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime

from anyio import to_thread

from wf_artifacts.errors import SessionBusy
from wf_artifacts.sessions.models import SessionRecord, StoredSession
from wf_core.codec.sessions import replay
from wf_core.ids import SessionId
from wf_core.sessions import Session
from wf_mcp.execution.sessions.errors import say_how_to_wait
from wf_mcp.execution.sessions.held import HeldSession
from wf_mcp.execution.sessions.means import SessionMeans

MOST_REMEMBERED = 512
MOST_REMEMBERED_BYTES = 16 * 1024 * 1024
"""Of events; what they make takes a few times as much."""

LONG_SESSION_BYTES = 256 * 1024
"""A session of more than this many bytes is replayed in a thread, so that others are not held up."""


@dataclass(frozen=True, slots=True)
class _Known:
    session: Session
    created_at: datetime
    size: int

    def is_as(self, record: SessionRecord) -> bool:
        return (self.session.position, self.created_at) == (record.position, record.created_at)


class Sessions:
    """Reads sessions, and remembers those that were held here last."""

    def __init__(
        self, means: SessionMeans, *, most: int = MOST_REMEMBERED, most_bytes: int = MOST_REMEMBERED_BYTES
    ) -> None:
        self._means = means
        self._most = most
        self._most_bytes = most_bytes
        self._remembered: OrderedDict[SessionId, _Known] = OrderedDict()
        self._bytes = 0

    async def hold(self, session_id: SessionId, *, principal: str | None = None) -> tuple[HeldSession, bool]:
        """Claim a session, and tell whether it was read anew. It is not remembered any more.

        Raises:
            SessionNotFound, SessionBusy, StateError, StoreUnavailable: nothing was changed.
        """
        if principal is not None:
            await self._means.sessions.load_record(session_id, principal=principal)
        try:
            claim = await self._means.sessions.claim(session_id)
        except SessionBusy as busy:
            say_how_to_wait(busy)
            raise
        try:
            known = self._remembered.get(session_id)
            if known is not None:
                self.forget(session_id)
                record = await self._means.sessions.load_record(session_id)
                if known.is_as(record):
                    return HeldSession(self._means, claim, known.session, record, size=known.size), False
            stored = await self._means.sessions.load(session_id)
            session = await _replayed(stored)
            return HeldSession(self._means, claim, session, stored.record, size=_size(stored)), True
        except BaseException:
            await claim.release()
            raise

    async def read(self, session_id: SessionId, *, principal: str | None = None) -> tuple[SessionRecord, Session]:
        """Give a session as it was last stored, only to be looked at, and only until the next wait.

        Raises:
            SessionNotFound, StateError, StoreUnavailable
        """
        if session_id in self._remembered:
            record = await self._means.sessions.load_record(session_id, principal=principal)
            known = self._remembered.get(session_id)  # it may have been taken meanwhile
            if known is not None and known.is_as(record):
                return record, known.session
        stored = await self._means.sessions.load(session_id, principal=principal)
        return stored.record, await _replayed(stored)

    def remember(self, held: HeldSession) -> None:
        """Keep a session that is held no more, as long as there is room."""
        if held.broken or not held.is_stored:
            return
        self.forget(held.session_id)
        self._remembered[held.session_id] = _Known(held.session, held.record.created_at, held.size)
        self._bytes += held.size
        while self._remembered and (len(self._remembered) > self._most or self._bytes > self._most_bytes):
            _, oldest = self._remembered.popitem(last=False)
            self._bytes -= oldest.size

    def forget(self, session_id: SessionId) -> None:
        """Read a session from its store the next time."""
        known = self._remembered.pop(session_id, None)
        self._bytes -= 0 if known is None else known.size


def _size(stored: StoredSession) -> int:
    return sum(map(len, stored.events))


async def _replayed(stored: StoredSession) -> Session:
    if _size(stored) > LONG_SESSION_BYTES:
        return await to_thread.run_sync(replay, stored.header, stored.events)
    return replay(stored.header, stored.events)
