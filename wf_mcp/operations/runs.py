"""Starting, answering, watching and ending runs."""

from contextlib import suppress
from typing import Any, Final

import anyio

from wf_artifacts.errors import InvalidId, RunBusy, StoreUnavailable
from wf_artifacts.runs.models import RunRecord
from wf_core.errors import InvalidInput, InvalidResumePayload, StateError, WfError
from wf_core.ids import DeploymentId, RunId, is_id
from wf_core.jsonvalue import JsonValue
from wf_core.runtime import Answer
from wf_core.state import FINAL
from wf_core.times import iso
from wf_mcp.app import App
from wf_mcp.errors import RunBlocked
from wf_mcp.execution import pins
from wf_mcp.execution.callees.waking import waits_for_callees
from wf_mcp.execution.live import Progress
from wf_mcp.execution.runs import Handle
from wf_mcp.operations import summaries
from wf_mcp.operations.caller import LOCAL_MODEL, Caller
from wf_mcp.operations.checks import check_key, check_limit, check_wait, storable
from wf_mcp.operations.cursors import bind, release
from wf_mcp.operations.models import (
    Diagnostic,
    ResumeReadiness,
    RunList,
    RunRow,
    RunStatus,
    RunSummary,
)
from wf_mcp.operations.recovery import go_on
from wf_mcp.operations.stored import name_stored, naming_stored

LEFT_OUT: Final = object()
"""Stands for an answer without a payload: null is a payload like any other."""


async def run_deployment(
    app: App,
    *,
    deployment_id: str,
    workflow_input: dict[str, Any] | None = None,
    idempotency_key: str | None = None,
    wait_seconds: float = 25,
    caller: Caller = LOCAL_MODEL,
    progress: Progress | None = None,
) -> RunSummary:
    """Start a run and wait for at most `wait_seconds` until it stops; it goes on whoever waits.

    The same idempotency key and input give the same run again. Where a capability of the plan is missing the summary is
    `unrunnable` and no run was created.

    Raises:
        DeploymentNotFound, InvalidArgument, InvalidInput, TooLarge, IdempotencyConflict, StoreFull: no run was created.
    """
    check_wait(wait_seconds)
    check_key(idempotency_key)
    given = storable(app, "workflow_input", {} if workflow_input is None else workflow_input, InvalidInput)
    key = None if idempotency_key is None else app.redactor.text(idempotency_key)
    handle, name = None, DeploymentId(deployment_id)
    if key is not None:
        handle = await app.runs.earlier(name, given, principal=caller.principal, idempotency_key=key)
    if handle is None:
        definition = await app.stores.catalog.load_definition(name)
        pinned = await pins.pin_definition(app.registry, app.stores.catalog, definition)
        if pinned.environment is None:
            return summaries.unrunnable(definition.deployment, pinned.issues)
        handle = await app.runs.start(pinned.environment, given, principal=caller.principal, idempotency_key=key)
    if handle.live is None:
        return await inspect_run(app, run_id=handle.run_id, wait_seconds=wait_seconds, caller=caller, progress=progress)
    return await waited(app, handle, caller, wait_seconds, progress)


async def resume_run(
    app: App,
    *,
    run_id: str,
    resume_payload: object = LEFT_OUT,
    resume_outcome: str = "submitted",
    interrupt_id: str | None = None,
    wait_seconds: float = 25,
    caller: Caller = LOCAL_MODEL,
    progress: Progress | None = None,
) -> RunSummary:
    """Answer an open question and wait for at most `wait_seconds` until the run stops again.

    A payload left out is an empty object. `interrupt_id` may be left out while one question is open.

    Raises:
        RunNotFound, RunRefused, RunBlocked, RunBusy, TooLarge, StoreFull: the stored run is as it was.
    """
    check_wait(wait_seconds)
    record = await _load(app, run_id, caller)
    payload = storable(
        app, "resume_payload", {} if resume_payload is LEFT_OUT else resume_payload, InvalidResumePayload
    )
    answer = Answer(
        payload=payload,
        outcome=resume_outcome,
        interrupt_id=interrupt_id,
        channel=caller.channel,
        principal=caller.principal,
        person=caller.person,
    )
    handle = await app.runs.answer(record.run_id, answer)
    return await waited(app, handle, caller, wait_seconds, progress)


async def inspect_run(
    app: App,
    *,
    run_id: str,
    wait_seconds: float = 0,
    take_over: bool = True,
    caller: Caller = LOCAL_MODEL,
    progress: Progress | None = None,
) -> RunSummary:
    """Say where a run stands, after at most `wait_seconds` of waiting until it stops.

    With `take_over`, which is for a process that stays, a run whose process is gone goes on here.
    """
    check_wait(wait_seconds)
    record = await _load(app, run_id, caller)
    left: WfError | None = None
    if record.status == "running":
        if take_over:
            left = await go_on(app, record.run_id, seconds=max(wait_seconds, summaries.INSPECTION_SECONDS))
        try:
            await app.runs.wait(app.runs.handle(record.run_id), seconds=wait_seconds, progress=progress)
        except StoreUnavailable as error:
            left = error
        record = await _load(app, run_id, caller)
    elif take_over and record.status == "interrupted" and await _look_after(app, record, wait_seconds):
        record = await _load(app, run_id, caller)
    return await summaries.summarize(app, record, left=left)


async def validate_run(app: App, *, run_id: str, caller: Caller = LOCAL_MODEL) -> RunSummary:
    """Say whether a run could go on, from what the sources offer now, however long they take to say it.

    Nothing is written.
    """
    return await summaries.summarize(app, await _load(app, run_id, caller), patience=None)


async def list_runs(
    app: App,
    *,
    status: RunStatus | None = None,
    deployment_id: str | None = None,
    resume_readiness: ResumeReadiness | None = None,
    cursor: str | None = None,
    limit: int = 20,
    caller: Caller = LOCAL_MODEL,
) -> RunList:
    """List runs, newest first. Readiness is told from what is known of the sources; none is connected for it."""
    check_limit(limit)
    if deployment_id is not None and not is_id(deployment_id):
        raise InvalidId("the id of a deployment", deployment_id)
    filters: tuple[JsonValue, ...] = ("runs", caller.principal, status, deployment_id, resume_readiness)
    position = release(cursor, *filters)
    rows: list[RunRow] = []
    diagnostics: list[Diagnostic] = []
    while True:
        page = await app.stores.runs.list_runs(
            principal=caller.principal,
            status=status,
            deployment_id=None if deployment_id is None else DeploymentId(deployment_id),
            cursor=position,
            limit=limit - len(rows),
        )
        diagnostics += [summaries.unusable(damage.error) for damage in page.damaged]
        for record in page.items:
            try:
                row = await _row(app, record)
            except StateError as error:
                # What it was started with cannot be read: one damaged run does not take the others out of sight.
                diagnostics.append(summaries.unusable(error))
                continue
            if resume_readiness in (None, row.resume_readiness):
                rows.append(row)
        position = page.next_cursor
        if position is None or len(rows) == limit:
            return RunList(runs=rows, next_cursor=bind(position, *filters), diagnostics=diagnostics)


async def cancel_run(app: App, *, run_id: str, reason: str | None = None, caller: Caller = LOCAL_MODEL) -> RunSummary:
    """End a run for good; calls under way are told to stop. A run that is over stays as it is.

    So are the agents and workflows that it called and that have not ended. Where another process is at one of them,
    they are ended a little later.

    Raises:
        RunNotFound, StoreFull: nothing was changed.
        RunBusy: another process advances the run; nothing was changed.
    """
    record = await _load(app, run_id, caller)
    if record.status not in FINAL:
        storable(app, "reason", reason)
        await app.runs.cancel(record.run_id, reason=None if reason is None else app.redactor.text(reason))
    if app.callees is not None:
        await app.callees.ending.callees_of(record.run_id)
    return await summaries.summarize(app, await _load(app, record.run_id, caller))


async def waited(app: App, handle: Handle, caller: Caller, seconds: float, progress: Progress | None) -> RunSummary:
    """Wait for at most `seconds` until a run stops that is stored, and tell where it stands.

    Where the store ends advancing it, the summary says so: the run goes on once the store can be written again.

    Raises:
        StoreUnavailable, ShuttingDown: it cannot be told; the error names the run.
        AdvancingFailed: on a fault of ours.
    """
    with naming_stored("run", handle.run_id):
        left, stopped = None, None
        try:
            stopped = await app.runs.wait(handle, seconds=seconds, progress=progress)
        except StoreUnavailable as error:
            left = name_stored(error, "run", handle.run_id)
        if stopped is None:
            return await summaries.summarize(app, await _load(app, handle.run_id, caller), left=left)
        return await summaries.summarize(app, stopped.record, environment=stopped.environment)


async def _look_after(app: App, record: RunRecord, wait_seconds: float) -> bool:
    """Let the calls expire whose time has come, and ask the callees of others; tell whether there was any of that."""
    now = iso(app.clock.now())
    expires = [call["expires_at"] for call in record.pending_calls if call.get("expires_at") is not None]
    asks = app.callees is not None and waits_for_callees(record)
    seconds = max(wait_seconds, summaries.INSPECTION_SECONDS)
    if any(moment <= now for moment in expires):
        with suppress(RunBusy, RunBlocked):
            await app.runs.wait(await app.runs.expire(record.run_id), seconds=seconds)
    elif app.callees is not None and asks:
        with anyio.move_on_after(seconds):
            await app.callees.ask(record.run_id)
            await app.runs.wait(app.runs.handle(record.run_id), seconds=seconds)
    return bool(expires) or asks


async def _load(app: App, run_id: str, caller: Caller) -> RunRecord:
    return await app.stores.runs.load(RunId(run_id), principal=caller.principal)


async def _row(app: App, record: RunRecord) -> RunRow:
    if record.status != "interrupted":
        return summaries.row(record, None)
    environment = await app.stores.runs.load_environment(record.run_id)
    found = await pins.known(app.registry, pins.names(environment))
    return summaries.row(record, pins.readiness(environment, found))
