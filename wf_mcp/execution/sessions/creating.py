"""Storing a new session: it begins with what the user says, and is at rest."""

from collections.abc import Sequence

from wf_artifacts.sessions.models import SessionParent, SessionRecord
from wf_core.codec.sessions import dump_header
from wf_core.ids import SessionId
from wf_core.sessions import AgentSnapshot, Attachment, CallerPolicy, Parent, start
from wf_mcp.execution.sessions.held import HeldSession
from wf_mcp.execution.sessions.means import SessionMeans


async def store_new(
    means: SessionMeans,
    session_id: SessionId,
    agent: AgentSnapshot,
    query: str | None,
    *,
    principal: str,
    attachments: Sequence[Attachment] = (),
    parent: Parent | None = None,
    callers: Sequence[CallerPolicy] = (),
    auto: bool,
) -> HeldSession:
    """Store a session that nobody has asked a model for yet, and hold it.

    Raises:
        SessionExists, InvalidPolicy, StoreFull, StoreUnavailable: no session was created.
    """
    now = means.clock.now()
    session = start(
        id=session_id,
        seed=f"{means.random_bits():032x}",
        agent=agent,
        query=query,
        attachments=attachments,
        parent=parent,
        callers=callers,
    )
    record = SessionRecord(
        session_id=session_id,
        principal=principal,
        agent=agent.slug,
        status="ready",
        turns=len(session.turns),
        position=session.position,
        auto=auto,
        parent=None if parent is None else SessionParent(kind=parent.kind, id=parent.id),
        created_at=now,
        updated_at=now,
    )
    events = session.take_events()
    claim = await means.sessions.create(record, dump_header(session), events)
    return HeldSession(means, claim, session, record, size=sum(map(len, events)))
