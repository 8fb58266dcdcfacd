"""Calls in doubt: the process that made them is gone, and whether they executed only a person can find out."""

import re

from wf_artifacts.errors import RunNotFound
from wf_artifacts.runs.models import RunRecord
from wf_core.errors import CallAlreadyCompleted, PersonRequired, UnknownCall
from wf_core.ids import RunId, is_run_id
from wf_core.runtime import Settlement
from wf_mcp.app import App
from wf_mcp.execution.live import Progress
from wf_mcp.operations import summaries
from wf_mcp.operations.caller import LOCAL_MODEL, Caller
from wf_mcp.operations.checks import check_wait, storable
from wf_mcp.operations.models import PendingCall, RunSummary

_TOKEN = re.compile(r"call_([0-9A-Z]+)_(c[1-9][0-9]*)")


async def inspect_call(app: App, *, token: str, caller: Caller = LOCAL_MODEL) -> PendingCall:
    """Show a call in doubt: its step, its arguments, and when it began.

    Raises:
        UnknownCall, CallAlreadyCompleted: no such call is in doubt.
    """
    record, call_id = await _find(app, token, caller)
    return next(call for call in summaries.pending_calls(record) if call.token.endswith(f"_{call_id}"))


async def complete_call(
    app: App,
    *,
    token: str,
    result: object,
    outcome: str = "ok",
    wait_seconds: float = 25,
    caller: Caller = LOCAL_MODEL,
    progress: Progress | None = None,
) -> RunSummary:
    """Say that a call was carried out and gave `result`, and wait for at most `wait_seconds` until its run stops.

    Raises:
        UnknownCall, CallAlreadyCompleted: no such call is in doubt.
        PersonRequired: only a person says what became of a call in doubt.
        InvalidResult, TooLarge: the capability cannot have given that.
        RunBlocked, RunBusy, StoreFull, StoreUnavailable: the word was not taken.
    """
    settlement = Settlement("completed", outcome, storable(app, "result", result))
    return await _settle(app, token, settlement, wait_seconds, caller, progress)


async def fail_call(
    app: App,
    *,
    token: str,
    error: str | None = None,
    wait_seconds: float = 25,
    caller: Caller = LOCAL_MODEL,
    progress: Progress | None = None,
) -> RunSummary:
    """Say that a call failed; its step fails, or takes its route `error`.

    Raises:
        WfError: as `complete_call`.
    """
    storable(app, "error", error)
    settlement = Settlement("failed", message=None if error is None else app.redactor.text(error))
    return await _settle(app, token, settlement, wait_seconds, caller, progress)


async def retry_call(
    app: App,
    *,
    token: str,
    wait_seconds: float = 25,
    caller: Caller = LOCAL_MODEL,
    progress: Progress | None = None,
) -> RunSummary:
    """Let a call be made again, whether or not it was carried out.

    Raises:
        WfError: as `complete_call`.
    """
    return await _settle(app, token, Settlement("retry"), wait_seconds, caller, progress)


async def _settle(
    app: App, token: str, settlement: Settlement, wait_seconds: float, caller: Caller, progress: Progress | None
) -> RunSummary:
    check_wait(wait_seconds)
    record, call_id = await _find(app, token, caller)
    if not caller.person:
        raise PersonRequired(
            f"Only a person may say what became of the call {token}: whether it was carried out is not known.",
            hint=f"Ask the user to run: wf calls show {token}",
            details={"token": token},
        )
    handle = await app.runs.settle(record.run_id, call_id, settlement)
    await app.runs.wait(handle, seconds=wait_seconds, progress=progress)
    return await summaries.summarize(app, await app.stores.runs.load(record.run_id, principal=caller.principal))


async def _find(app: App, token: str, caller: Caller) -> tuple[RunRecord, str]:
    """Give the run of a call in doubt, and the call's id in it."""
    match = _TOKEN.fullmatch(token)
    if match is None or not is_run_id(f"run_{match[1]}"):
        raise _unknown(token)
    try:
        record = await app.stores.runs.load(RunId(f"run_{match[1]}"), principal=caller.principal)
    except RunNotFound as error:
        raise _unknown(token) from error
    call_id = match[2]
    if call_id in (call["id"] for call in record.pending_calls):
        return record, call_id
    # Each step makes one call at most, so a run never made one with a higher number.
    if int(call_id.removeprefix("c")) > record.steps_executed:
        raise _unknown(token)
    raise CallAlreadyCompleted(
        f"The call {token} does not wait for anybody: it has ended, or its run goes on with it.",
        hint=f"What was told first stays. inspect_run(run_id={record.run_id!r}) shows where the run stands.",
        details={"token": token},
    )


def _unknown(token: str) -> UnknownCall:
    return UnknownCall(
        f"There is no call {token}.", hint="list_pending names every call that waits.", details={"token": token}
    )
