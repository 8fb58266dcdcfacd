"""Which calls of sessions wait for the outside: what is read of them is what was stored when they were put off."""

from wf_artifacts.calls.models import Continuation, Waiting
from wf_artifacts.errors import SessionNotFound
from wf_core.ids import SessionId
from wf_core.jsonvalue import shorten
from wf_core.times import iso
from wf_mcp.app import App
from wf_mcp.operations.caller import Caller
from wf_mcp.operations.conversations import SHOWN_BYTES
from wf_mcp.operations.models import PendingCall, PendingItem
from wf_mcp.operations.session_summaries import answer_action


async def calls_of_session(app: App, session_id: str, caller: Caller) -> list[PendingItem]:
    """Give the open calls of one session, the oldest first.

    Raises:
        SessionNotFound: there is no such session.
    """
    record = await app.stores.sessions.load_record(SessionId(session_id), principal=caller.principal)
    found = await app.stores.continuations.of_session(record.session_id, now=app.clock.now())
    return [_item(waiting, record.agent) for waiting in found if waiting.state == "open"]


async def calls_of_sessions(
    app: App, *, cursor: str | None, limit: int, caller: Caller
) -> tuple[list[PendingItem], str | None]:
    """Give up to `limit` open calls of all sessions, the newest first, and the cursor of the next ones.

    Raises:
        InvalidCursor: the cursor is not of this list.
    """
    page = await app.stores.continuations.list_open(
        principal=caller.principal, now=app.clock.now(), cursor=cursor, limit=limit
    )
    items: list[PendingItem] = []
    agents: dict[str, str | None] = {}
    for waiting in page.items:
        session_id = waiting.continuation.session_id
        if session_id not in agents:
            agents[session_id] = await _agent(app, session_id)
        items.append(_item(waiting, agents[session_id]))
    return items, page.next_cursor


async def _agent(app: App, session_id: str) -> str | None:
    try:
        return (await app.stores.sessions.load_record(SessionId(session_id))).agent
    except SessionNotFound:
        return None


def _item(waiting: Waiting, agent: str | None) -> PendingItem:
    call = _call(waiting.continuation)
    return PendingItem(
        session_id=call.session_id,
        agent=agent,
        type="call",
        since=call.since,
        call=call,
        next_action=answer_action(call),
    )


def _call(asked: Continuation) -> PendingCall:
    return PendingCall(
        token=asked.token,
        state="in_doubt" if asked.kind == "in_doubt" else "deferred",
        session_id=asked.session_id,
        call_id=asked.call_id,
        name=asked.name,
        capability=asked.capability,
        arguments=shorten(asked.arguments, SHOWN_BYTES),
        awaits=asked.kind,
        disposition=asked.disposition,
        reason=asked.reason,
        since=iso(asked.created_at),
        expires_at=None if asked.expires_at is None else iso(asked.expires_at),
    )
