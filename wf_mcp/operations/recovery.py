"""Going on with runs whose process is gone, when somebody looks at one or asks for it."""

import math

import anyio

from wf_core.errors import WfError
from wf_core.ids import RunId
from wf_mcp.app import App
from wf_mcp.execution.callees.waking import waits_for_callees
from wf_mcp.execution.recovery import take_over
from wf_mcp.operations.caller import LOCAL_MODEL, Caller
from wf_mcp.operations.models import RecoveredRun, RecoveredRuns


async def recover_runs(app: App, *, run_id: str | None = None, caller: Caller = LOCAL_MODEL) -> RecoveredRuns:
    """Go on with the run named, or with every run whose process is gone, until each has stopped.

    What keeps one from going on leaves the others alone.

    Raises:
        RunNotFound: there is no run of that id.
        StoreUnavailable: the runs cannot be looked for.
    """
    found = (
        await app.stores.runs.abandoned()
        if run_id is None
        else [(await app.stores.runs.load(RunId(run_id), principal=caller.principal)).run_id]
    )
    if app.callees is not None and run_id is None:
        await app.callees.ending.all_callees()
    left = {run: reason.message for run, reason in (await take_over(app.runs, found)).items()}
    rows: list[RecoveredRun] = []
    for run in found:
        handle = app.runs.handle(run)
        if handle.live is not None:
            try:
                await app.runs.wait(handle, seconds=math.inf)
            except WfError as error:
                left[run] = error.message
        record = await app.stores.runs.load(run)
        if app.callees is not None and run_id is not None and waits_for_callees(record):
            await app.callees.ask(run)
            await app.callees.finish()
            record = await app.stores.runs.load(run)
        rows.append(RecoveredRun(run_id=run, status=record.status, reason=left.get(run)))
    return RecoveredRuns(runs=rows)


async def go_on(app: App, run_id: RunId, *, seconds: float) -> WfError | None:
    """Take a run over if its process is gone, and give why that is not possible. It may take longer than `seconds`."""
    with anyio.move_on_after(seconds):
        return (await take_over(app.runs, [run_id])).get(run_id)
    return None
