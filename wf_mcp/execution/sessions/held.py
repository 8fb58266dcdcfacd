"""A session that is held by this process, and the way to its store."""

from typing import Any

import anyio

from wf_artifacts.sessions.models import SessionRecord, SessionStatus
from wf_artifacts.sessions.store import SessionClaim
from wf_core.ids import SessionId
from wf_core.sessions import Session
from wf_mcp.execution.sessions.means import SessionMeans
from wf_mcp.execution.sessions.records import at_rest, describe


class HeldSession:
    """A claimed session. What is done to `session` is stored by `store`, and by nothing else."""

    def __init__(
        self, means: SessionMeans, claim: SessionClaim, session: Session, record: SessionRecord, *, size: int
    ) -> None:
        self.session = session
        self.record = record
        """As it was last stored."""
        self.means = means
        self.size = size
        """How many bytes of events have made the session."""
        self.broken = False
        """A write failed, so what is stored may be less than what was done: nothing more is to follow it."""
        self._claim = claim

    @property
    def session_id(self) -> SessionId:
        return self.record.session_id

    @property
    def is_stored(self) -> bool:
        """Whether everything that was done to the session is stored."""
        return not self.session.fresh_events

    async def store(self, status: SessionStatus, *, sync: bool = True, **told: Any) -> None:
        """Store where the session stands, in one step; nothing where it stands there already.

        Raises:
            StoreUnavailable, StoreFull: it stands as it was last stored.
        """
        now = self.means.clock.now()
        record = describe(self.session, self.record, now=now, status=status, **told)
        if self.is_stored and record.model_copy(update={"updated_at": self.record.updated_at}) == self.record:
            return
        events = self.session.take_events()
        # Whether a write that began has happened must be known here, also when the task is cancelled meanwhile.
        with anyio.CancelScope(shield=True):
            try:
                await self.means.sessions.store(self._claim, record, events, sync=sync)
            except BaseException:
                self.broken = True
                raise
        self.record = record
        self.size += sum(map(len, events))
        self.means.changes.tell(record.session_id)

    async def rest(self, **told: Any) -> None:
        """Store where the session stands while nobody advances it.

        Raises:
            StoreUnavailable, StoreFull: it stands as it was last stored.
        """
        await self.store(at_rest(self.session), **told)

    async def leave(self) -> None:
        """Let others advance the session."""
        with anyio.CancelScope(shield=True):
            await self._claim.release()
