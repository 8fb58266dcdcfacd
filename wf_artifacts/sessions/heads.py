"""Claims on sessions in a database.

The row of a session names an owner (`storage.owners`) and a fence, which every taking of the claim raises. What is
written under a claim holds both against the row in the same transaction, so an owner whose claim has passed on writes
nothing.
"""

import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from anyio import CancelScope, CapacityLimiter

from wf_artifacts.errors import SessionBusy, SessionClaimLost
from wf_artifacts.sessions.reading import find
from wf_artifacts.sessions.store import SessionClaim
from wf_artifacts.storage.claims import Releasable
from wf_artifacts.storage.database import Database, Transaction
from wf_artifacts.storage.owners import Lease, Owner
from wf_artifacts.storage.threads import in_thread
from wf_core.ids import SessionId

FIRST_FENCE: Final = 1
"""That of a new session."""


class SqlClaim(Releasable):
    """A fence, which is that of the row as long as nobody else took the session."""

    def __init__(self, heads: "SessionHeads", session_id: SessionId, session: int, fence: int) -> None:
        self.session_id = session_id
        self.session = session
        """The number of the session."""
        self.fence = fence
        self.heads = heads
        self.writing = threading.Lock()
        self.released = False

    async def release(self) -> None:
        with CancelScope(shield=True):
            await self.heads.release(self)


class SessionHeads:
    """The claims of one owner on sessions of a database."""

    def __init__(self, database: Database, lease: Lease) -> None:
        self._database = database
        self._owner = Owner(database, lease)

    @property
    def threads(self) -> CapacityLimiter:
        return self._database.threads

    @property
    def owner(self) -> str:
        """The name in the rows that are claimed."""
        return self._owner.name

    def appear(self) -> None:
        """Be seen by others. Before the first claim."""
        self._owner.appear()

    def close(self) -> None:
        """Give up every claim."""
        self._owner.close()

    def renew(self, transaction: Transaction) -> None:
        """Let the lease begin anew. In the transaction that makes a session that is claimed."""
        self._owner.renew(transaction)

    def take(self, transaction: Transaction, session_id: SessionId) -> tuple[int, int]:
        """Take the claim on a session, and tell its number and the fence.

        Raises:
            SessionNotFound: there is no such session.
            SessionBusy: somebody holds it.
        """
        self._owner.renew(transaction)
        while True:
            session, fence, owner, held = find(transaction, "claim_on_session", session_id)
            if held and not self._database.has_died(owner):
                raise SessionBusy(session_id)
            if transaction.change("take_session", session=session, fence=fence, owner=self._owner.name):
                return session, fence + 1

    def claimed(self, session_id: SessionId, session: int, fence: int) -> SqlClaim:
        """Make the claim whose taking was committed."""
        self._owner.hold()
        return SqlClaim(self, session_id, session, fence)

    @contextmanager
    def holding(self, claim: SessionClaim) -> Generator[SqlClaim]:
        """Let writes under one claim come one after another.

        Raises:
            SessionClaimLost: it was released, or is none of these.
        """
        if not isinstance(claim, SqlClaim) or claim.heads is not self:
            raise SessionClaimLost(claim.session_id)
        with claim.writing:
            if claim.released:
                raise SessionClaimLost(claim.session_id)
            yield claim

    @in_thread
    def release(self, claim: SqlClaim) -> None:
        """Give a claim back, unless it was."""
        with claim.writing:
            if not claim.released:
                claim.released = True
                self._owner.release(lambda transaction: transaction.change("release_session", **self.place(claim)))

    def place(self, claim: SqlClaim) -> dict[str, int | str]:
        """Say which row it has to be: that of the session, as long as nobody else took it."""
        return {"session": claim.session, "fence": claim.fence, "owner": self._owner.name}
