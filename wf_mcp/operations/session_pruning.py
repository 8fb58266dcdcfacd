"""Deleting sessions that ended long ago."""

from collections.abc import Collection
from datetime import timedelta
from functools import partial

from wf_artifacts.sessions.models import SessionStatus
from wf_artifacts.sessions.prune import prune
from wf_artifacts.sessions.rules import ENDED
from wf_core.times import iso
from wf_mcp.app import App
from wf_mcp.execution.callees.family import is_wanted
from wf_mcp.execution.live import Progress
from wf_mcp.operations.caller import LOCAL_MODEL, Caller
from wf_mcp.operations.models import Answer
from wf_mcp.operations.pruning import moment_before, require_ended


class PrunedSession(Answer):
    """A session that was deleted, or would be."""

    session_id: str
    status: SessionStatus
    agent: str
    updated_at: str


class PrunedSessions(Answer):
    """Every session that ended before a moment."""

    ended_before: str
    dry_run: bool
    """Whether nothing was deleted."""
    sessions: list[PrunedSession]


async def prune_sessions(
    app: App,
    *,
    older_than: timedelta,
    statuses: Collection[SessionStatus] = ENDED,
    dry_run: bool = False,
    caller: Caller = LOCAL_MODEL,
    progress: Progress | None = None,
) -> PrunedSessions:
    """Delete the sessions that ended so long ago, with everything that is kept of them.

    Never touched is one that waits for something, that is advanced, or that a run or session may wait for.

    Raises:
        InvalidArgument: a status is one that a session has to leave, or there is no such moment; nothing was deleted.
    """
    require_ended("session", statuses, ENDED)
    before = moment_before(app, older_than)
    found: list[PrunedSession] = []
    async for record in prune(
        app.stores.sessions,
        principal=caller.principal,
        before=before,
        is_wanted=partial(is_wanted, app.stores),
        statuses=statuses,
        dry_run=dry_run,
    ):
        if not dry_run:
            await app.stores.continuations.delete_of(record.session_id)
        found.append(
            PrunedSession(
                session_id=record.session_id,
                status=record.status,
                agent=record.agent,
                updated_at=iso(record.updated_at),
            )
        )
        if progress is not None:
            await progress(len(found), record.session_id)
    return PrunedSessions(ended_before=iso(before), dry_run=dry_run, sessions=found)
