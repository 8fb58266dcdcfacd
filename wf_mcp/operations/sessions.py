"""Agent sessions: start, advance, look at, end."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from wf_artifacts.errors import SessionBusy, StoreUnavailable
from wf_artifacts.sessions.models import SessionStatus
from wf_core.errors import StateError
from wf_core.ids import SessionId
from wf_core.jsonvalue import JsonValue
from wf_core.sessions import Attachment
from wf_mcp.app import App
from wf_mcp.config.agents import AgentFile, configured_file, find_agent, load_agent
from wf_mcp.errors import InvalidArgument
from wf_mcp.execution.agents import pin_agent
from wf_mcp.execution.callees.family import AGENTS, WORKFLOWS, is_awaited
from wf_mcp.execution.callees.waking import Callees
from wf_mcp.execution.sessions.driver import SessionHandle
from wf_mcp.execution.sessions.errors import SessionInUse
from wf_mcp.operations import session_summaries as summaries
from wf_mcp.operations.caller import LOCAL_MODEL, Caller
from wf_mcp.operations.checks import check_limit, check_wait, storable
from wf_mcp.operations.cursors import bind, release
from wf_mcp.operations.session_models import DeletedSession, SessionDetail, SessionList, SessionSummary
from wf_mcp.operations.stored import name_stored, naming_stored
from wf_mcp.operations.summaries import unusable

MOST_TURNS = 100


async def start_session(
    app: App,
    *,
    agent: str | Path,
    prompt: str | None,
    attachments: Sequence[Attachment] = (),
    step: bool = False,
    wait_seconds: float = 25,
    caller: Caller = LOCAL_MODEL,
) -> SessionSummary:
    """Create a session that begins with what the user says. The model is asked only with `step`, then once.

    `agent` is the slug of an agent in wf.json, or the path of an agent file. The agent is pinned as it is now.

    Raises:
        AgentNotFound, InvalidAgent: there is no such agent, or it cannot be used.
        InvalidArgument, TooLarge, StoreFull, StoreUnavailable: no session was created.
    """
    check_wait(wait_seconds)
    words = _words(app, prompt)
    _check_attachments(app, attachments)
    if words is None and not attachments:
        raise InvalidArgument("`prompt` is missing.", hint="Say what the agent is to do.")
    definition, origin = _definition(app, agent)
    pinned = await pin_agent(app.registry, definition, origin=origin)
    if pinned.snapshot is None:
        return summaries.unrunnable(definition.slug, pinned.issues)
    handle = await app.sessions.create(pinned.snapshot, words, principal=caller.principal, attachments=attachments)
    if step:
        handle = await app.sessions.step(handle.session_id, principal=caller.principal)
    return await _waited(app, handle, wait_seconds, caller)


async def step_session(
    app: App, *, session_id: str, wait_seconds: float = 25, caller: Caller = LOCAL_MODEL
) -> SessionSummary:
    """Take one step: ask the model once, or make the calls of its turn up to where they yield.

    Raises:
        SessionNotFound, SessionBusy, SessionBlocked, StateError, StoreFull, StoreUnavailable: nothing was done.
    """
    check_wait(wait_seconds)
    handle = await app.sessions.step(SessionId(session_id), principal=caller.principal)
    return await _waited(app, handle, wait_seconds, caller)


async def pause_session(
    app: App, *, session_id: str, wait_seconds: float = 25, caller: Caller = LOCAL_MODEL
) -> SessionSummary:
    """Take one step as `step_session` does; from then on no server goes on with the session by itself.

    Raises:
        SessionNotFound, SessionBusy, SessionBlocked, StateError, StoreFull, StoreUnavailable: nothing was done.
    """
    check_wait(wait_seconds)
    handle = await app.sessions.step(SessionId(session_id), auto=False, principal=caller.principal)
    return await _waited(app, handle, wait_seconds, caller)


async def resume_session(
    app: App,
    *,
    session_id: str,
    prompt: str | None = None,
    attachments: Sequence[Attachment] = (),
    auto: bool | None = None,
    wait_seconds: float = 25,
    caller: Caller = LOCAL_MODEL,
) -> SessionSummary:
    """Take what was delivered, and what the user says, and go on to the answer or to where the session waits.

    With `auto`, servers go on by themselves when results come.

    Raises:
        SessionNotFound, SessionBusy, SessionBlocked, StateError, StoreFull, StoreUnavailable: nothing was done.
    """
    check_wait(wait_seconds)
    _check_attachments(app, attachments)
    handle = await app.sessions.resume(
        SessionId(session_id),
        prompt=_words(app, prompt),
        attachments=attachments,
        auto=auto,
        principal=caller.principal,
    )
    return await _waited(app, handle, wait_seconds, caller)


async def run_isolated(
    app: App, *, session_id: str, wait_seconds: float = 25, caller: Caller = LOCAL_MODEL
) -> SessionSummary:
    """Carry out the calls that wait for isolation, each in a worker of its own. The model is not asked.

    Raises:
        RunnerMissing: the agent has no runner for them.
        SessionNotFound, SessionBusy, SessionBlocked, StateError, StoreFull, StoreUnavailable: nothing was done.
    """
    check_wait(wait_seconds)
    handle = await app.sessions.run_isolated(SessionId(session_id), principal=caller.principal)
    return await _waited(app, handle, wait_seconds, caller)


async def inspect_session(
    app: App, *, session_id: str, turns: int = 10, wait_seconds: float = 0, caller: Caller = LOCAL_MODEL
) -> SessionDetail:
    """Show a session with its last `turns` turns, after waiting for at most `wait_seconds` until it rests.

    Where the store ended advancing it meanwhile, a diagnostic says so.

    Raises:
        SessionNotFound, StateError
        StoreUnavailable: it cannot be read now.
        InvalidArgument: a number is out of range.
    """
    check_wait(wait_seconds)
    if not 0 <= turns <= MOST_TURNS:
        raise InvalidArgument(f"`turns` is from 0 to {MOST_TURNS}, not {turns}.", hint="Ask for fewer turns.")
    named = SessionId(session_id)
    record = await app.stores.sessions.load_record(named, principal=caller.principal)
    left: StoreUnavailable | None = None
    if wait_seconds:
        try:
            await app.sessions.wait(app.sessions.handle(record.session_id), seconds=wait_seconds)
        except StoreUnavailable as error:
            left = error
    view = await app.sessions.view(named, principal=caller.principal)
    return await summaries.detail(app, view, turns=turns, left=left)


async def list_sessions(
    app: App,
    *,
    status: SessionStatus | None = None,
    cursor: str | None = None,
    limit: int = 20,
    caller: Caller = LOCAL_MODEL,
) -> SessionList:
    """List sessions, the newest first.

    Raises:
        InvalidArgument, InvalidCursor: limit or cursor are not of this list.
    """
    check_limit(limit)
    filters = ("sessions", caller.principal, status)
    page = await app.stores.sessions.list_sessions(
        principal=caller.principal, status=status, cursor=release(cursor, *filters), limit=limit
    )
    return SessionList(
        sessions=[summaries.row(record) for record in page.items],
        next_cursor=bind(page.next_cursor, *filters),
        diagnostics=[unusable(damaged.error) for damaged in page.damaged],
    )


async def fork_session(app: App, *, session_id: str, caller: Caller = LOCAL_MODEL) -> SessionSummary:
    """Copy a session as it was last stored. Its open calls wait in the copy too, with tokens of their own.

    Raises:
        SessionNotFound, StateError, StoreFull, StoreUnavailable: there is no copy.
    """
    handle = await app.sessions.fork(SessionId(session_id), principal=caller.principal)
    return await _waited(app, handle, 0, caller)


async def delete_session(app: App, *, session_id: str, caller: Caller = LOCAL_MODEL) -> DeletedSession:
    """Delete a session with everything that is kept of it, the calls that wait included. Its callees are ended.

    Raises:
        SessionNotFound, SessionBusy, StoreUnavailable: nothing was deleted.
        SessionInUse: nor was it where a run or another session waits for the answer.
    """
    record = await app.stores.sessions.load_record(SessionId(session_id), principal=caller.principal)
    if record.parent is not None and await is_awaited(app.stores, record):
        raise SessionInUse(record.session_id, record.parent.kind, record.parent.id)
    sources = {(call.capability or "").partition(".")[0] for call in record.pending}
    if app.callees is not None and not sources.isdisjoint({AGENTS, WORKFLOWS}):
        await _leave_callees(app, app.callees, record.session_id)
    await app.stores.sessions.delete(record.session_id)
    await app.stores.continuations.delete_of(record.session_id)
    return DeletedSession(session_id=record.session_id)


async def _leave_callees(app: App, callees: Callees, session_id: SessionId) -> None:
    """End what a session called before it is deleted, and the session first: nobody could tell whose they were."""
    if await app.stores.sessions.is_claimed(session_id):
        raise SessionBusy(session_id)
    with suppress(StateError):  # what cannot be read may still be deleted
        await app.sessions.end(session_id, {"code": "cancelled", "message": "The session is being deleted."})
    await callees.ending.callees_of(session_id)


async def _waited(app: App, handle: SessionHandle, seconds: float, caller: Caller) -> SessionSummary:
    """Wait for at most `seconds` until a session rests that is stored, and tell where it stands.

    Where the store ends advancing it, the summary says so: the session goes on once the store can be written again.

    Raises:
        StoreUnavailable, ShuttingDown: it cannot be told; the error names the session.
    """
    with naming_stored("session", handle.session_id):
        left = None
        try:
            await app.sessions.wait(handle, seconds=seconds)
        except StoreUnavailable as error:
            left = name_stored(error, "session", handle.session_id)
        view = await app.sessions.view(handle.session_id, principal=caller.principal)
        return summaries.summary(await summaries.detail(app, view, left=left))


def _definition(app: App, agent: str | Path) -> tuple[AgentFile, dict[str, JsonValue]]:
    if isinstance(agent, Path):
        return load_agent(agent), {"file": str(agent.resolve())}
    return find_agent(configured_file(app.config, agent), agent), {"config": agent}


def _words(app: App, prompt: str | None) -> str | None:
    """Give what the user says as it may be stored: JSON text, within bounds, without secrets."""
    words = storable(app, "prompt", prompt)
    if isinstance(words, str) and not words.strip():
        raise InvalidArgument("`prompt` says nothing.", hint="Say what the agent is to do.")
    return words if isinstance(words, str) else None


def _check_attachments(app: App, attachments: Sequence[Attachment]) -> None:
    """Refuse files that are too large, and names that cannot be stored."""
    for sent in attachments:
        storable(app, "attachment", [sent.mime_type, sent.filename, sent.base64_data])
