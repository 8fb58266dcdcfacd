"""Which calls of sessions wait for the outside: what is read of them is what was stored when they were put off."""

import re

from wf_artifacts.calls.models import Waiting
from wf_artifacts.errors import InvalidCursor, SessionNotFound
from wf_core.errors import StateError
from wf_core.ids import SessionId
from wf_mcp.app import App
from wf_mcp.execution.sessions.views import PendingCall
from wf_mcp.operations.caller import Caller
from wf_mcp.operations.models import PendingItem
from wf_mcp.operations.session_summaries import answer_action, pending_call


async def calls_of_session(
    app: App, session_id: str, *, after: str | None, limit: int, caller: Caller
) -> tuple[list[PendingItem], str | None]:
    """Give up to `limit` open calls of one session, in call order, and where the next ones begin.

    `after` is the token of the last call of the page before, whatever has become of that call.

    Raises:
        SessionNotFound: there is no such session.
        InvalidCursor: it never had a call of that token.
    """
    record = await app.stores.sessions.load_record(SessionId(session_id), principal=caller.principal)
    kept = await app.stores.continuations.of_session(record.session_id, now=app.clock.now())
    found = sorted(kept, key=lambda waiting: _place(waiting.continuation.call_id))
    if after is not None:
        tokens = [waiting.token for waiting in found]
        if after not in tokens:
            raise InvalidCursor(after)
        found = found[tokens.index(after) + 1 :]
    waiting = [one for one in found if one.state == "open"]
    here = [_item(one, record.agent) for one in waiting[:limit]]
    return here, waiting[limit - 1].token if len(waiting) > limit else None


async def calls_of_sessions(
    app: App, *, cursor: str | None, limit: int, caller: Caller
) -> tuple[list[PendingItem], str | None]:
    """Give up to `limit` open calls of all sessions, the newest first, and the cursor of the next ones.

    Raises:
        InvalidCursor: the cursor is not of this list.
    """
    items: list[PendingItem] = []
    agents: dict[str, str | None] = {}
    while True:
        page = await app.stores.continuations.list_open(
            principal=caller.principal, now=app.clock.now(), cursor=cursor, limit=limit - len(items)
        )
        for waiting in page.items:
            session_id = waiting.continuation.session_id
            if session_id not in agents:
                agents[session_id] = await _agent(app, session_id)
            if agents[session_id] is not None:
                items.append(_item(waiting, agents[session_id]))
        cursor = page.next_cursor
        if cursor is None or len(items) == limit:
            return items, cursor


def _place(call_id: str) -> list[int]:
    """Give the place of a call among all of its session: of `t2.10` that of the turn, then its own in the turn."""
    return [int(number) for number in re.findall(r"[0-9]+", call_id)]


async def _agent(app: App, session_id: str) -> str | None:
    """Give the agent of a session; None where it is not known, because it is being deleted, or cannot be read."""
    try:
        return (await app.stores.sessions.load_record(SessionId(session_id))).agent
    except (SessionNotFound, StateError):
        return None


def _item(waiting: Waiting, agent: str | None) -> PendingItem:
    call = pending_call(PendingCall.of(waiting.continuation))
    return PendingItem(
        session_id=call.session_id,
        agent=agent,
        type="call",
        since=call.since,
        call=call,
        next_action=answer_action(call),
    )
