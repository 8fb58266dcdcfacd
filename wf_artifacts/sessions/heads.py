"""Claims on sessions in a database: what `storage.fences` says, of the rows of `wf_sessions`."""

from wf_artifacts.errors import SessionBusy, SessionClaimLost
from wf_artifacts.sessions.reading import find
from wf_artifacts.sessions.store import SessionClaim
from wf_artifacts.storage.database import Database
from wf_artifacts.storage.fences import FencedClaim, FencedRows
from wf_artifacts.storage.owners import Lease
from wf_core.ids import SessionId


class SqlClaim(FencedClaim[SessionId]):
    """A claim on a session."""

    @property
    def session_id(self) -> SessionId:
        return self.identifier


class SessionHeads(FencedRows[SessionId, SqlClaim]):
    """The rows of all sessions of a database, as one owner takes claims on them."""

    def __init__(self, database: Database, lease: Lease) -> None:
        super().__init__(
            database, lease, "session", claims=SqlClaim, find=find, busy=SessionBusy, lost=SessionClaimLost
        )

    def mine(self, claim: SessionClaim) -> SqlClaim:
        """Accept a claim that was taken here.

        Raises:
            SessionClaimLost: it is none of these.
        """
        if not isinstance(claim, SqlClaim) or claim.rows is not self:
            raise SessionClaimLost(claim.session_id)
        return claim
