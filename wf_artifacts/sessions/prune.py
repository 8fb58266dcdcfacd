"""Deletes sessions that ended long ago, whatever store keeps them.

A session that has its answer may go on all the same, where its user says more: it is deleted only as it was found.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from datetime import datetime
from functools import partial
from typing import Final

from wf_artifacts.errors import SessionBusy, SessionNotFound
from wf_artifacts.sessions.models import SessionRecord, SessionStatus
from wf_artifacts.sessions.rules import ENDED, SESSIONS
from wf_artifacts.sessions.store import SessionStore
from wf_artifacts.storage.pages import cursor_after, every
from wf_core.ids import session_id

_PAGE: Final = 100


async def prune(
    sessions: SessionStore,
    *,
    principal: str | None,
    before: datetime,
    is_wanted: Callable[[SessionRecord], Awaitable[bool]],
    statuses: Collection[SessionStatus] = ENDED,
    dry_run: bool = False,
) -> AsyncIterator[SessionRecord]:
    """Delete the sessions that ended before a moment, and give each one that was, or with `dry_run` would be, deleted.

    Left alone is one that waits for a call, that somebody holds or goes on with at this moment, or that cannot be read,
    and one of which `is_wanted` says that whoever called it may ask for its answer. Calls that it once waited for are
    the caller's to delete. Costs what the sessions that began before that moment cost.

    Raises:
        ValueError: a status is not one of `ENDED`; nothing was deleted.
    """
    if not ENDED.issuperset(statuses):
        raise ValueError(f"only {', '.join(sorted(ENDED))} sessions have ended")
    # Ids begin with the time of creation, so a session that begins later is not even looked at.
    begun_before = cursor_after(SESSIONS, session_id(before, 0))
    for status in sorted(statuses):
        pages = partial(sessions.list_sessions, principal=principal, status=status)
        async for record in every(pages, cursor=begun_before, limit=_PAGE):
            has_ended = record.updated_at < before and not record.pending
            if has_ended and not await is_wanted(record) and await _delete(sessions, record, dry_run=dry_run):
                yield record


async def _delete(sessions: SessionStore, record: SessionRecord, *, dry_run: bool) -> bool:
    try:
        if dry_run:
            return not await sessions.is_claimed(record.session_id)
        await sessions.delete(record.session_id, found=record)
    except (SessionBusy, SessionNotFound):
        return False
    return True
