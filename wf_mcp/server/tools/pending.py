"""The tool for everything that waits for the outside."""

from typing import Annotated

from pydantic import Field

from wf_mcp.operations import pending as operations
from wf_mcp.operations.models import PendingList
from wf_mcp.server.arguments import Cursor, Limit
from wf_mcp.server.call import ToolCall
from wf_mcp.server.tool import READS, WorkflowTool


async def list_pending(
    call: ToolCall,
    run_id: Annotated[str | None, Field(description="Only what this run waits for.")] = None,
    cursor: Cursor = None,
    limit: Limit = 20,
) -> PendingList:
    """List every open question and call that waits for the outside, newest run first.

    Use it when the user asks what is waiting for an answer or an approval.
    """
    return await operations.list_pending(call.app, run_id=run_id, cursor=cursor, limit=limit, caller=call.caller)


def tools() -> list[WorkflowTool]:
    """Make the tool of this file."""
    return [WorkflowTool.of(list_pending, title="List what waits", annotations=READS)]
