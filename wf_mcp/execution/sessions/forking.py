"""Copies of sessions: each goes on by itself from where the original stood, and shares no answer with it."""

from wf_artifacts.sessions.models import SessionRecord
from wf_core.codec.sessions import dump_header
from wf_core.ids import SessionId
from wf_core.ids import session_id as new_session_id
from wf_core.sessions import Session, fork
from wf_mcp.execution.sessions import mail
from wf_mcp.execution.sessions.held import HeldSession
from wf_mcp.execution.sessions.means import SessionMeans
from wf_mcp.execution.sessions.records import describe


async def store_fork(means: SessionMeans, record: SessionRecord, session: Session) -> SessionId:
    """Store a copy of a session, and let the outside answer its open calls by tokens of their own.

    Raises:
        StoreFull, StoreUnavailable: there is no copy.
    """
    now = means.clock.now()
    named = new_session_id(now, means.random_bits())
    begun = await mail.begun_elsewhere(means, session)
    copy = fork(session, id=named, seed=f"{means.random_bits():032x}", begun=begun)
    fresh = {"session_id": named, "auto": False, "parent": None, "error": None, "created_at": now}
    stands = describe(copy, record.model_copy(update=fresh), now=now)
    events = copy.take_events()
    claim = await means.sessions.create(stands, dump_header(copy), events)
    held = HeldSession(means, claim, copy, stands, size=sum(map(len, events)))
    try:
        await mail.restore(held)
    finally:
        await held.leave()
    means.changes.tell(named)
    return named
