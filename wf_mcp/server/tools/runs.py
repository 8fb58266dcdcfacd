"""Tools for runs: start, answer, look, cancel."""

from typing import Annotated, Any

from pydantic import Field

from wf_mcp import operations
from wf_mcp.operations.models import ResumeReadiness, RunList, RunStatus, RunSummary, TracePage
from wf_mcp.server.arguments import Cursor, JsonObject, Limit, WholeNumber
from wf_mcp.server.call import ToolCall
from wf_mcp.server.tool import ACTS, ASKS_SOURCES, DELETES, READS, WorkflowTool

RunId = Annotated[str, Field(description="The run's id, as run_deployment gave it.")]
WaitSeconds = Annotated[
    float,
    Field(ge=0, le=45, description="How long to wait for the run to stop. It goes on all the same."),
]


async def run_deployment(
    call: ToolCall,
    deployment_id: Annotated[str, Field(description="Which deployment to run; list_deployments names them.")],
    workflow_input: Annotated[JsonObject, Field(description="Input that fits the plan's input_schema.")] = {},  # noqa: B006
    idempotency_key: Annotated[
        str | None,
        Field(description="The same key and input give the same run: a retry starts nothing twice."),
    ] = None,
    wait_seconds: WaitSeconds = 25,
) -> RunSummary:
    """Start a run of a deployed workflow and wait for it to stop. Use it when the user wants a workflow carried out.

    The run belongs to the server: it goes on when this call times out, and survives restarts. status is completed,
    failed, running (ask again with inspect_run), interrupted (it asks something: see interrupt, answer with
    resume_run), or unrunnable (nothing was started: see diagnostics). next_actions says what to call next. Pass an
    idempotency_key when you may have to repeat the call.
    """
    return await operations.runs.run_deployment(
        call.app,
        deployment_id=deployment_id,
        workflow_input=workflow_input,
        idempotency_key=idempotency_key,
        wait_seconds=wait_seconds,
        caller=call.caller,
        progress=call.progress,
    )


async def resume_run(
    call: ToolCall,
    run_id: RunId,
    resume_payload: Annotated[Any, Field(description="Answer that fits the interrupt's resume_schema.")] = {},  # noqa: B006
    resume_outcome: Annotated[str, Field(description="One of the interrupt's outcomes.")] = "submitted",
    interrupt_id: Annotated[str | None, Field(description="Which question; needed when several are open.")] = None,
    wait_seconds: WaitSeconds = 25,
) -> RunSummary:
    """Answer the question at which a run stopped, and let it go on. Use it when a run's status is interrupted.

    Ask the user first and pass on the user's answer: never decide an approval yourself. A refused answer changes
    nothing, and the run still waits. A question with answered_by "person" is answered elsewhere: the error says where.
    """
    return await operations.runs.resume_run(
        call.app,
        run_id=run_id,
        resume_payload=resume_payload,
        resume_outcome=resume_outcome,
        interrupt_id=interrupt_id,
        wait_seconds=wait_seconds,
        caller=call.caller,
        progress=call.progress,
    )


async def inspect_run(call: ToolCall, run_id: RunId, wait_seconds: WaitSeconds = 0) -> RunSummary:
    """Say where a run stands: status, output or error, open questions. Use it to follow a run that is still running.

    With wait_seconds the server waits until the run stops or the time is over, which is no error: ask again.
    """
    return await operations.runs.inspect_run(
        call.app, run_id=run_id, wait_seconds=wait_seconds, caller=call.caller, progress=call.progress
    )


async def validate_run(call: ToolCall, run_id: RunId) -> RunSummary:
    """Ask the sources whether a stopped run could go on now. Use it when resume_readiness is blocked.

    diagnostics say which capability is missing, disabled or changed since the run started. Nothing is changed.
    """
    return await operations.runs.validate_run(call.app, run_id=run_id, caller=call.caller)


async def read_run_trace(
    call: ToolCall,
    run_id: RunId,
    start: Annotated[WholeNumber, Field(description="First entry, from 0; a negative number counts from the end.")] = 0,
    limit: Limit = 20,
) -> TracePage:
    """Read what a run did, step by step: inputs, outputs, state changes, answers. Use it to explain or debug a run.

    Start with the end (start=-10) when a run failed. Long values are shortened and marked with $truncated. Where
    truncated is true more entries follow, from next_start.
    """
    return await operations.traces.read_run_trace(call.app, run_id=run_id, start=start, limit=limit, caller=call.caller)


async def list_runs(
    call: ToolCall,
    status: RunStatus | None = None,
    deployment_id: str | None = None,
    resume_readiness: ResumeReadiness | None = None,
    cursor: Cursor = None,
    limit: Limit = 20,
) -> RunList:
    """List runs, newest first. Use it to find a run whose id you do not have; inspect_run shows one whole."""
    return await operations.runs.list_runs(
        call.app,
        status=status,
        deployment_id=deployment_id,
        resume_readiness=resume_readiness,
        cursor=cursor,
        limit=limit,
        caller=call.caller,
    )


async def cancel_run(
    call: ToolCall,
    run_id: RunId,
    reason: Annotated[str | None, Field(description="Kept in the run's trace.")] = None,
) -> RunSummary:
    """End a run for good. Use it only when the user wants the run stopped: it cannot be resumed afterwards.

    A run that is over already stays as it is, without an error.
    """
    return await operations.runs.cancel_run(call.app, run_id=run_id, reason=reason, caller=call.caller)


def tools() -> list[WorkflowTool]:
    """Make the tools of this file."""
    always_load = {"anthropic/alwaysLoad": True}
    return [
        WorkflowTool.of(run_deployment, title="Run a workflow", annotations=ACTS, meta=always_load),
        WorkflowTool.of(
            resume_run, title="Answer a run", annotations=ACTS, meta={"anthropic/requiresUserInteraction": True}
        ),
        WorkflowTool.of(inspect_run, title="Inspect a run", annotations=ASKS_SOURCES, meta=always_load, whole=True),
        WorkflowTool.of(validate_run, title="Check whether a run can go on", annotations=ASKS_SOURCES),
        WorkflowTool.of(read_run_trace, title="Read a run's trace", annotations=READS),
        WorkflowTool.of(list_runs, title="List runs", annotations=READS),
        WorkflowTool.of(cancel_run, title="Cancel a run", annotations=DELETES),
    ]
