"""What the agents and workflows are at that a run or a session waits for, and what to do where they do not go on."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import cast

import anyio

from wf_artifacts.errors import DeploymentNotFound, IdempotencyConflict, SessionNotFound
from wf_artifacts.runs.models import RunRecord
from wf_core.calls.capability import idempotency_key
from wf_core.errors import StateError, WfError
from wf_core.ids import DeploymentId, RunId, SessionId, derived_session_id, is_session_id, read_call_token
from wf_core.jsonvalue import JsonValue
from wf_mcp.app import App
from wf_mcp.execution import pins
from wf_mcp.execution.callees import agents, workflows
from wf_mcp.execution.callees.family import AGENTS, DEEPEST, WORKFLOWS, owner_of
from wf_mcp.execution.sessions.views import SessionView
from wf_mcp.operations.answers import Diagnostic
from wf_mcp.operations.models import PendingCall
from wf_mcp.sources.protocol import CallDeferred, CallFailed

logger = logging.getLogger(__name__)

LOOKING_SECONDS = 5.0
"""How long callees are looked at, at most. Of those that were not reached in time it is told what was stored."""

GIVEN_UP = "a person gives the call up by wf calls fail TOKEN."


@dataclass(frozen=True, slots=True)
class _Standing:
    """What a callee is at."""

    reason: str
    code: str | None = None
    """Why it does not go on by itself; None where it does."""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class _Call:
    """A call that waits for its callee."""

    owner: str
    """The session or run that made it."""
    key: str
    source: str
    name: str
    arguments: object


@dataclass(slots=True)
class Looked:
    """Calls that wait, as they stand now."""

    calls: list[PendingCall]
    stuck: dict[str, Diagnostic] = field(default_factory=dict[str, Diagnostic])
    """Why those do not go on that do not, by token."""

    def action(self, call: PendingCall, usual: str) -> str:
        """Say what ends the wait of a call; `usual` is what does where it goes on by itself."""
        found = self.stuck.get(call.token)
        return usual if found is None else f"{call.capability} does not go on by itself ({call.reason}): {found.hint}"


async def look(app: App, owner: str, calls: Sequence[PendingCall]) -> Looked:
    """Look at the callees that calls of a session or a run wait for. None is gone on with, and nothing is written."""
    looked = Looked(list(calls))
    if not any(call.awaits == "callee" for call in calls):
        return looked
    with anyio.move_on_after(LOOKING_SECONDS):
        try:
            for index, asked in enumerate(await _asked(app, owner, calls)):
                found = None if asked is None else await _standing(app, asked, DEEPEST)
                if found is not None:
                    _tell(looked, index, found)
        except WfError as error:
            logger.warning("It cannot be told what callees of %s are at: %s", owner, error)
    return looked


async def callee_of(app: App, owner: str, call: PendingCall) -> SessionId | RunId | None:
    """Name the session or the run that a call of a session or a run waits for; None where it waits for none.

    Raises:
        StateError, StoreUnavailable: it cannot be told.
    """
    (asked,) = await _asked(app, owner, [call])
    if asked is None:
        return None
    if asked.source == AGENTS:
        return derived_session_id(asked.owner, asked.key, app.clock.now())
    record = await _started(app, asked)
    return None if record is None else record.run_id


def _tell(looked: Looked, index: int, found: _Standing) -> None:
    call = looked.calls[index]
    looked.calls[index] = call.model_copy(update={"reason": found.reason})
    if found.code is not None:
        message = f"{call.capability}, which is waited for, does not go on by itself: {found.reason}."
        looked.stuck[call.token] = Diagnostic(severity="warning", code=found.code, message=message, hint=found.hint)


async def _asked(app: App, owner: str, calls: Sequence[PendingCall]) -> list[_Call | None]:
    """Give what each call asked of whom; None for one that does not wait for a callee."""
    environment = None if is_session_id(owner) else await app.stores.runs.load_environment(RunId(owner))
    asked: list[_Call | None] = []
    for call in calls:
        token = read_call_token(call.token)
        if call.awaits != "callee":
            asked.append(None)
        elif environment is None or token is None:
            asked.append(_of_model(owner, call.call_id or "", call.capability, call.arguments))
        else:
            pinned = environment.capabilities[call.capability]
            key = idempotency_key(owner, token[1])
            asked.append(_Call(owner, key, pinned.source, pinned.name, call.arguments))
    return asked


def _of_model(session_id: str, call_id: str, capability: str, arguments: object) -> _Call:
    source, _, name = capability.partition(".")
    return _Call(session_id, idempotency_key(session_id, call_id), source, name, arguments)


async def _standing(app: App, call: _Call, depth: int) -> _Standing | None:
    """Say what the callee of a call is at; None where it is not there, or cannot be read."""
    try:
        if call.source == AGENTS:
            named = derived_session_id(call.owner, call.key, app.clock.now())
            return await _of_session(app, call, await app.sessions.view(named), depth)
        if call.source == WORKFLOWS:
            record = await _started(app, call)
            return None if record is None else await _of_run(app, call, record, depth)
    except (SessionNotFound, StateError):
        pass
    return None


async def _of_session(app: App, call: _Call, view: SessionView, depth: int) -> _Standing:
    session_id = view.record.session_id
    again = f"resume_session(session_id={session_id!r})"
    try:
        agents.answer(view)
    except CallFailed as failed:
        return _Standing(failed.message, failed.code, f"{again} asks it again; {GIVEN_UP}")
    except CallDeferred as deferred:
        stands = _Standing(deferred.reason)
    else:
        return _Standing(f"the session {session_id} has ended")
    if view.record.status == "running":
        return _Standing(f"the session {session_id} is under way")
    stands = await _below(app, stands, _asked_by(view), depth)
    if stands.code is not None:
        return stands
    missing = await app.sessions.means.missing(view.session.agent)
    if missing:
        told = " ".join(str(issue["message"]) for issue in missing)
        return _Standing(
            f"the session {session_id} is blocked: {told}",
            "session_blocked",
            f"Bring back what is missing, then {again}; {GIVEN_UP}",
        )
    if not view.record.auto and (await owner_of(app.stores, call.owner)).auto:
        return _Standing(f"{stands.reason}, and is paused", "session_paused", f"{again} goes on with it.")
    return stands


def _asked_by(view: SessionView) -> list[_Call]:
    """Give the calls of a session that wait for callees."""
    return [
        _of_model(view.record.session_id, one.call_id, one.capability, one.arguments)
        for one in view.pending
        if one.kind == "callee"
    ]


async def _of_run(app: App, call: _Call, record: RunRecord, depth: int) -> _Standing:
    run_id = record.run_id
    try:
        workflows.answer(record)
    except CallDeferred as deferred:
        stands = _Standing(deferred.reason)
    else:
        stands = _Standing(f"the run {run_id} has ended")
    try:
        await app.stores.catalog.load_deployment(DeploymentId(call.name))
    except DeploymentNotFound:
        artifact = f"artifact_id={record.artifact_id!r}, version={record.artifact_version}"
        owner = "cancel_run" if not is_session_id(call.owner) else "wf session delete"
        return _Standing(
            f"{stands.reason}, and its answer cannot be taken: the deployment {call.name} was deleted",
            "deployment_not_found",
            f"create_deployment(deployment_id={call.name!r}, {artifact}) brings it back; {owner} ends {call.owner}.",
        )
    if record.status != "interrupted":
        return stands
    environment = await app.stores.runs.load_environment(run_id)
    ready = pins.readiness(environment, await pins.known(app.registry, pins.names(environment)))
    if not ready.ready:
        told = " ".join(issue.message for issue in ready.issues if issue.severity == "error")
        return _Standing(
            f"the run {run_id} is blocked: {told}",
            "run_blocked",
            f"validate_run(run_id={run_id!r}) says more; cancel_run(run_id={run_id!r}) gives it up.",
        )
    below = [
        _Call(run_id, idempotency_key(run_id, one["id"]), pinned.source, pinned.name, one["arguments"])
        for one in record.pending_calls
        if one.get("awaits") == "callee"
        for pinned in (environment.capabilities[one["capability"]],)
    ]
    return await _below(app, stands, below, depth)


async def _below(app: App, stands: _Standing, calls: Sequence[_Call], depth: int) -> _Standing:
    """Say what a callee is at that waits for callees of its own: one of them may not go on."""
    for call in calls if depth > 1 else ():
        found = await _standing(app, call, depth - 1)
        if found is not None and found.code is not None:
            return replace(found, reason=f"{stands.reason}: {found.reason}")
    return stands


async def _started(app: App, call: _Call) -> RunRecord | None:
    """Give the run that a call started."""
    owner, name = await owner_of(app.stores, call.owner), DeploymentId(call.name)
    try:
        found = await app.runs.earlier(
            name, cast("JsonValue", call.arguments), principal=owner.principal, idempotency_key=call.key
        )
        run_id = None if found is None else found.run_id
    except IdempotencyConflict as conflict:
        run_id = RunId(conflict.run_id)  # the arguments of a call are shown shortened
    return None if run_id is None else await app.stores.runs.load(run_id)
