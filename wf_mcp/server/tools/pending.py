"""Tools for everything that waits for the outside."""

from typing import Annotated, Any

from pydantic import Field

from wf_mcp import operations
from wf_mcp.operations.models import PendingList, RunSummary
from wf_mcp.operations.session_models import SessionSummary
from wf_mcp.server.arguments import Cursor, Limit
from wf_mcp.server.call import ToolCall
from wf_mcp.server.tool import ACTS, READS, WorkflowTool

Summary = RunSummary | SessionSummary
Token = Annotated[str, Field(description="From pending_calls.")]


async def list_pending(
    call: ToolCall,
    run_id: Annotated[str | None, Field(description="Only what this run waits for.")] = None,
    session_id: Annotated[str | None, Field(description="Only what this session waits for.")] = None,
    cursor: Cursor = None,
    limit: Limit = 20,
) -> PendingList:
    """List every open question and call that waits for the outside: of runs, then of sessions, newest first.

    Use it when the user asks what is waiting for an answer or an approval.
    """
    return await operations.pending.list_pending(
        call.app, run_id=run_id, session_id=session_id, cursor=cursor, limit=limit, caller=call.caller
    )


async def complete_call(
    call: ToolCall,
    token: Token,
    result: Annotated[Any, Field(description="What the call gave.")],
    outcome: Annotated[
        str | None, Field(description="Of a run's call: which of the capability's outcomes it was.")
    ] = None,
) -> Summary:
    """Deliver the result of a call that waits for the outside. Use it when that work is done.

    Gives the run or the session that goes on with it. A call in doubt, or one that waits for an approval, an agent or
    a workflow, is refused: a person answers it, on the command line.
    """
    return await operations.calls.complete_call(
        call.app, token=token, result=result, outcome=outcome, caller=call.caller, progress=call.progress
    )


async def fail_call(
    call: ToolCall, token: Token, error: Annotated[str, Field(description="Why there is no result.")]
) -> Summary:
    """Say that a call that waits for the outside failed. Use it as complete_call."""
    return await operations.calls.fail_call(
        call.app, token=token, error=error, caller=call.caller, progress=call.progress
    )


def tools() -> list[WorkflowTool]:
    """Make the tools of this file."""
    return [
        WorkflowTool.of(list_pending, title="List what waits", annotations=READS),
        WorkflowTool.of(complete_call, title="Deliver a call's result", annotations=ACTS),
        WorkflowTool.of(fail_call, title="Let a call fail", annotations=ACTS),
    ]
