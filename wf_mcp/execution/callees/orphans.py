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
from wf_mcp.execution.callees.family import WORKFLOWS, Caller, caller_of, load_caller, waits


@dataclass(frozen=True, slots=True)
class Called:
    """A session or a run that another one called, and that has not ended."""

    record: SessionRecord | RunRecord
    caller: str

    @property
    def id(self) -> SessionId | RunId:
        return self.record.session_id if isinstance(self.record, SessionRecord) else self.record.run_id


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
        caller = await load_caller(stores, called.caller)
    except (RunNotFound, SessionNotFound):
        # An idempotency key is anybody's to choose: that of a run proves nothing where there is no caller to look at.
        return None if isinstance(record, RunRecord) else f"{called.caller}, which called this, was deleted."
    if not caller.at_rest or caller.principal != record.principal:
        return None
    if waits(caller.keys - await _answered(stores, called), record):
        return None
    if isinstance(record, RunRecord) and not await _calls(stores, called.caller, record):
        return None
    return f"The {caller.kind} {called.caller}, which called this, {_stands(caller)}."


def _stands(caller: Caller) -> str:
    """Say how a caller ended, or that it goes on without its callee."""
    match caller.kind, caller.status:
        case "session", "answered":
            return "has answered without it"
        case "session", "failed":
            return "has ended"
        case "run", "completed" | "failed":
            return f"has {caller.status}"
        case "run", "cancelled":
            return "was cancelled"
        case _:
            return "does not wait for it any more"


async def _answered(stores: Stores, called: Called) -> set[str]:
    """Give the keys of calls that have an answer which their session may not have taken yet.

    A callee that gave it has ended.
    """
    if not is_session_id(called.caller):
        return set()
    kept = await stores.continuations.of_session(called.caller, now=called.record.updated_at)
    given = [one.continuation for one in kept if one.state == "delivered"]
    return {idempotency_key(called.caller, one.call_id) for one in given if one.kind == "callee"}


async def _calls(stores: Stores, owner: str, run: RunRecord) -> bool:
    """Tell whether a session or a run may have started a run: its deployment is one of those that it can call."""
    if is_session_id(owner):
        header = load_header((await stores.sessions.load(SessionId(owner))).header)
        return any((tool.source, tool.own_name) == (WORKFLOWS, run.deployment_id) for tool in header.agent.tools)
    environment = await stores.runs.load_environment(RunId(owner))
    called = environment.capabilities.values()
    return any((pinned.source, pinned.name) == (WORKFLOWS, run.deployment_id) for pinned in called)
