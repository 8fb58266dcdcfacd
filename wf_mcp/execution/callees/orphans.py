"""Callees that nobody waits for any more: sessions and runs whose caller has ended, or goes on without them.

A caller that is being advanced is left alone with its callees: what it waits for is known once it rests.
"""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from functools import partial

from wf_artifacts.errors import RunNotFound, SessionNotFound
from wf_artifacts.runs.models import RunRecord
from wf_artifacts.sessions.models import SessionRecord
from wf_artifacts.storage.pages import every
from wf_artifacts.stores import Stores
from wf_core.calls.capability import idempotency_key
from wf_core.codec.sessions import load_header
from wf_core.ids import RunId, SessionId, is_session_id
from wf_core.state import FINAL
from wf_mcp.execution.callees.family import WORKFLOWS, caller_of, waits


@dataclass(frozen=True, slots=True)
class Called:
    """A session or a run that another one called, and that has not ended."""

    record: SessionRecord | RunRecord
    caller: str

    @property
    def id(self) -> SessionId | RunId:
        return self.record.session_id if isinstance(self.record, SessionRecord) else self.record.run_id


@dataclass(frozen=True, slots=True)
class _Caller:
    """A session or a run as far as its callees are concerned."""

    what: str
    principal: str
    stands: str
    """How it came to an end; `going on` where it has not."""
    keys: frozenset[str] | None
    """Idempotency keys of its calls that have not ended. None where it is not known, because it is advanced."""


async def under_way(stores: Stores) -> AsyncGenerator[Called]:
    """Give every session and run that was called and has not ended.

    A session whose model did not answer waits for nobody, and is not among them.
    """
    for session_status in ("running", "waiting", "ready"):
        sessions = partial(stores.sessions.list_sessions, principal=None, status=session_status)
        async for session in every(sessions):
            if session.parent is not None and not (session.status == "ready" and session.error):
                yield Called(session, session.parent.id)
    for run_status in ("running", "interrupted"):
        async for run in every(partial(stores.runs.list_runs, principal=None, status=run_status)):
            caller = caller_of(run.idempotency_key)
            if caller is not None:
                yield Called(run, caller[0])


async def why_unwanted(stores: Stores, called: Called) -> str | None:
    """Say why nobody waits for a callee any more; None where somebody does, or may."""
    record = called.record
    try:
        caller = await _caller(stores, called.caller)
    except (RunNotFound, SessionNotFound):
        # An idempotency key is anybody's to choose: that of a run proves nothing where there is no caller to look at.
        return None if isinstance(record, RunRecord) else f"{called.caller}, which called this, was deleted."
    if caller.keys is None or caller.principal != record.principal or waits(caller.keys, record):
        return None
    if isinstance(record, RunRecord) and not await _calls(stores, called.caller, record):
        return None
    return f"The {caller.what} {called.caller}, which called this, {caller.stands}."


async def _caller(stores: Stores, owner: str) -> _Caller:
    if is_session_id(owner):
        session = await stores.sessions.load_record(SessionId(owner))
        answered = await _answered(stores, session)
        unanswered = {call.call_id for call in session.pending} - answered
        keys = frozenset(idempotency_key(owner, call_id) for call_id in unanswered)
        # Of one that is ready its last events may be lost: it may make the call again.
        rests = session.status in {"waiting", "answered", "failed"}
        stands = _SESSIONS.get(session.status, _ELSE)
        return _Caller("session", session.principal, stands, keys if rests else None)
    run = await stores.runs.load(RunId(owner))
    keys = frozenset(idempotency_key(owner, str(call["id"])) for call in run.pending_calls)
    stands = _RUNS.get(run.status, _ELSE)
    return _Caller("run", run.principal, stands, None if run.status == "running" else keys)


async def _answered(stores: Stores, session: SessionRecord) -> set[str]:
    """Give the calls that have an answer which the session may not have taken yet. A callee that gave it has ended."""
    kept = await stores.continuations.of_session(session.session_id, now=session.updated_at)
    given = [one.continuation for one in kept if one.state == "delivered"]
    return {one.call_id for one in given if one.kind == "callee"}


_ELSE = "does not wait for it any more"
_SESSIONS = {"answered": "has answered without it", "failed": "has ended"}
_RUNS = {status: f"was {status}" if status == "cancelled" else f"has {status}" for status in FINAL}


async def _calls(stores: Stores, owner: str, run: RunRecord) -> bool:
    """Tell whether a session or a run may have started a run: its deployment is one of those that it can call."""
    if is_session_id(owner):
        header = load_header((await stores.sessions.load(SessionId(owner))).header)
        return any((tool.source, tool.own_name) == (WORKFLOWS, run.deployment_id) for tool in header.agent.tools)
    environment = await stores.runs.load_environment(RunId(owner))
    called = environment.capabilities.values()
    return any((pinned.source, pinned.name) == (WORKFLOWS, run.deployment_id) for pinned in called)
