"""The contract of every store of sessions.

A session is a record, a header that never changes, and the events that made it what it is. Events are only added: what
a change costs does not depend on how many there are. A session is changed only through a claim, which one holder has at
a time and which ends with its process. Every change is one step: record and events are seen in their state before it or
after it, by a reader in any process, also after a crash. What a method returned from is stored.
"""

from collections.abc import Sequence
from types import TracebackType
from typing import Protocol, Self

from wf_artifacts.sessions.models import SessionRecord, SessionStatus, StoredSession
from wf_artifacts.storage.pages import Page
from wf_core.ids import SessionId


class SessionClaim(Protocol):
    """The right to advance one session, held until it is released or the process ends."""

    @property
    def session_id(self) -> SessionId: ...

    async def release(self) -> None:
        """Let others advance the session. Works in a cancelled task too; releasing again does nothing."""
        ...

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Release it."""
        ...


class SessionStore(Protocol):
    """Keeps sessions.

    A write that began is finished even if the caller is cancelled. Every method may raise:
        SessionNotFound: there is no such session, with close ids; a text that cannot be an id included.
        StateError: a stored document that it needs cannot be read; the document was left alone.
        StoreUnavailable, StoreFull: nothing was changed.
    """

    async def create(self, record: SessionRecord, header: bytes, events: Sequence[bytes] = ()) -> SessionClaim:
        """Create a session with the events that it begins with, and claim it.

        `record.position` counts the events. There are many when the session comes from another store.

        Raises:
            SessionExists: there is one with this id; it was left as it is.
            NotJson: a value of the record is no strict JSON; nothing was created.
            ValueError: record and events do not fit together; nothing was created.
        """
        ...

    async def claim(self, session_id: SessionId) -> SessionClaim:
        """Take the right to advance a session.

        Read the session after this, not before: another holder may have advanced it in between.

        Raises:
            SessionBusy: somebody holds it: another process, or another task of this one.
        """
        ...

    async def is_claimed(self, session_id: SessionId) -> bool:
        """Tell whether somebody holds the right to advance the session at this moment. Never disturbs a claim."""
        ...

    async def store(
        self, claim: SessionClaim, record: SessionRecord, events: Sequence[bytes] = (), *, sync: bool = True
    ) -> None:
        """Store the next state of a claimed session, in one step: its record, and the events since the one before.

        Costs what the record and these events cost, whatever was stored before. With `sync` it is on disk then, and so
        is all that was stored before. Without, it survives this process, but perhaps not the machine; then the last
        states are missing, never one in the middle. A store may sync all the same.

        Raises:
            SessionClaimLost: the claim was released, or has passed to somebody else; nothing was written.
            NotJson: a value of the record is no strict JSON; nothing was written.
            ValueError: record and events do not fit together or do not follow what is stored; nothing was written.
        """
        ...

    async def load(self, session_id: SessionId, *, principal: str | None = None) -> StoredSession:
        """Give everything that is kept of a session. With a principal, the sessions of others do not exist."""
        ...

    async def load_record(self, session_id: SessionId, *, principal: str | None = None) -> SessionRecord:
        """Give the record of a session. With a principal, the sessions of others do not exist, close ids included.

        Costs the same however long the session is.
        """
        ...

    async def list_sessions(
        self,
        *,
        principal: str | None,
        status: SessionStatus | None = None,
        cursor: str | None = None,
        limit: int,
    ) -> Page[SessionRecord]:
        """Give up to `limit` sessions, the newest first: by session id, which begins with the time of creation.

        `principal` None means the sessions of everybody. Walking the pages meets every session that was there all along
        exactly once. A session that cannot be read is in `Page.damaged` of every list that it may belong to.

        Raises:
            InvalidCursor: the cursor is not from this list.
        """
        ...

    async def abandoned(self) -> list[SessionId]:
        """Give the sessions with status `running` that nobody holds, the newest first; none that cannot be read."""
        ...

    async def delete(self, session_id: SessionId, *, found: SessionRecord | None = None) -> None:
        """Delete a session with everything that is kept of it; with `found` only as it was found.

        Raises:
            SessionBusy: somebody holds it, or it has gone on since it was found; nothing was deleted.
        """
        ...
