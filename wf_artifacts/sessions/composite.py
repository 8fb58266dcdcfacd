"""Sessions in several stores, read from the first that has them and written to one.

The target comes first, so that what was written is what is read. A session that only another store has is copied to the
target when it is claimed, and goes on there; what the other has of it is then older, and not shown any more. The others
are only read, but for two things: a session is held there while it is copied, and deleting it deletes it everywhere.
"""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import TypeVar

from wf_artifacts.errors import SessionBusy, SessionExists, SessionNotFound
from wf_artifacts.sessions.models import SessionRecord, SessionStatus, StoredSession
from wf_artifacts.sessions.rules import SESSIONS
from wf_artifacts.sessions.store import SessionClaim, SessionStore
from wf_artifacts.storage.pages import Damaged, Page, cursor_after, read_cursor
from wf_core.errors import StateError
from wf_core.ids import SessionId, close_matches

T = TypeVar("T")


class CompositeSessions:
    """Keeps sessions in `target`, and reads those that it lacks from `others`."""

    def __init__(self, target: SessionStore, *others: SessionStore) -> None:
        self._target = target
        self._stores = (target, *others)

    async def create(self, record: SessionRecord, header: bytes, events: Sequence[bytes] = ()) -> SessionClaim:
        for store in self._stores[1:]:
            if await _has(store, record.session_id):
                raise SessionExists(record.session_id)
        return await self._target.create(record, header, events)

    async def claim(self, session_id: SessionId) -> SessionClaim:
        with suppress(SessionNotFound):
            return await self._target.claim(session_id)
        store = await self._first(session_id)
        if store is self._target:
            return await self._target.claim(session_id)
        async with await store.claim(session_id):
            found = await store.load(session_id)
            with suppress(SessionExists):
                return await self._target.create(found.record, found.header, found.events)
        return await self._target.claim(session_id)

    async def is_claimed(self, session_id: SessionId) -> bool:
        return await (await self._first(session_id)).is_claimed(session_id)

    async def store(
        self, claim: SessionClaim, record: SessionRecord, events: Sequence[bytes] = (), *, sync: bool = True
    ) -> None:
        await self._target.store(claim, record, events, sync=sync)

    async def load(self, session_id: SessionId, *, principal: str | None = None) -> StoredSession:
        return await self._read(session_id, principal, lambda store: store.load(session_id, principal=principal))

    async def load_record(self, session_id: SessionId, *, principal: str | None = None) -> SessionRecord:
        return await self._read(session_id, principal, lambda store: store.load_record(session_id, principal=principal))

    async def list_sessions(
        self,
        *,
        principal: str | None,
        status: SessionStatus | None = None,
        cursor: str | None = None,
        limit: int,
    ) -> Page[SessionRecord]:
        items: list[SessionRecord] = []
        damaged: list[Damaged] = []
        while True:
            pages = [
                await store.list_sessions(principal=principal, status=status, cursor=cursor, limit=limit)
                for store in self._stores
            ]
            # Behind the end of a page that is not the last, its store may have others that come first.
            ends = [read_cursor(SESSIONS, page.next_cursor) for page in pages if page.next_cursor is not None]
            end = max(ends, default="")
            found, room = await self._shown(pages, end), limit - len(items)
            if len(found) > room:
                end = found[room - 1].session_id
            items += found[:room]
            damaged += await self._shown_damage(pages, end)
            cursor = cursor_after(SESSIONS, end) if end else None
            if cursor is None or len(items) >= limit:
                return Page(tuple(items), cursor, tuple(damaged))

    async def abandoned(self) -> list[SessionId]:
        found: set[SessionId] = set()
        for number, store in enumerate(self._stores):
            found.update([one for one in await store.abandoned() if not await self._is_hidden(number, one)])
        return sorted(found, reverse=True)

    async def delete(self, session_id: SessionId, *, found: SessionRecord | None = None) -> None:
        """Delete it in every store, in the target last: what is interrupted leaves the latest state."""
        holders = [store for store in self._stores if await _has(store, session_id)]
        if not holders:
            raise await self._missing(session_id, None)
        if await holders[0].is_claimed(session_id):
            raise SessionBusy(session_id)
        if found is not None and await holders[0].load_record(session_id) != found:
            raise SessionBusy(session_id)
        for store in reversed(holders[1:]):
            await store.delete(session_id)
        await holders[0].delete(session_id, found=found)

    async def _read(
        self, session_id: SessionId, principal: str | None, read: Callable[[SessionStore], Awaitable[T]]
    ) -> T:
        try:
            return await read(await self._first(session_id))
        except SessionNotFound as error:
            raise await self._missing(session_id, principal) from error

    async def _first(self, session_id: SessionId) -> SessionStore:
        """Give the first store that has the session, readable or not, whoever it belongs to."""
        for store in self._stores:
            if await _has(store, session_id):
                return store
        raise await self._missing(session_id, None)

    async def _missing(self, session_id: SessionId, principal: str | None) -> SessionNotFound:
        """Make the error that names close ids of every store."""
        known: list[str] = []
        for store in self._stores:
            try:
                await store.load_record(session_id, principal=principal)
            except SessionNotFound as error:
                known += error.close
            except StateError:
                continue
        return SessionNotFound(session_id, close=close_matches(session_id, set(known)))

    async def _shown(self, pages: Sequence[Page[SessionRecord]], end: str) -> list[SessionRecord]:
        """Merge the items down to `end`, without those that an earlier store has in another state."""
        found = [
            item
            for number, page in enumerate(pages)
            for item in page.items
            if item.session_id >= end and not await self._is_hidden(number, item.session_id)
        ]
        return sorted(found, key=lambda record: record.session_id, reverse=True)

    async def _shown_damage(self, pages: Sequence[Page[SessionRecord]], end: str) -> list[Damaged]:
        return [
            one
            for number, page in enumerate(pages)
            for one in page.damaged
            if one.identifier >= end and not await self._is_hidden(number, SessionId(one.identifier))
        ]

    async def _is_hidden(self, number: int, session_id: SessionId) -> bool:
        """Tell whether a store before that of this number has the session."""
        for store in self._stores[:number]:
            if await _has(store, session_id):
                return True
        return False


async def _has(store: SessionStore, session_id: SessionId) -> bool:
    try:
        await store.load_record(session_id)
    except SessionNotFound:
        return False
    except StateError:
        return True
    return True
