"""Tools for capabilities: what a workflow can call."""

from typing import Annotated

from pydantic import Field

from wf_mcp import operations
from wf_mcp.operations.models import CallAnswer, CapabilityList, CapabilityView
from wf_mcp.server.arguments import Cursor, JsonObject, Limit
from wf_mcp.server.call import ToolCall
from wf_mcp.server.tool import ACTS, ASKS_SOURCES, WorkflowTool

CapabilityName = Annotated[str, Field(description="source.capability, as list_capabilities gives it.")]


async def list_capabilities(
    call: ToolCall,
    query: Annotated[str | None, Field(description="Words to look for in names and descriptions.")] = None,
    source: Annotated[str | None, Field(description="Only those of this source.")] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> CapabilityList:
    """List what a workflow's steps can call, from every configured source. Use it before writing a plan.

    diagnostics name the sources that could not be asked.
    """
    return await operations.sources.list_capabilities(call.app, query=query, source=source, cursor=cursor, limit=limit)


async def inspect_capability(call: ToolCall, name: CapabilityName) -> CapabilityView:
    """Show one capability's contract: schemas, outcomes, hints. Use it for each capability that a plan is to call."""
    return await operations.sources.inspect_capability(call.app, name=name)


async def call_capability(
    call: ToolCall,
    name: CapabilityName,
    input: Annotated[JsonObject, Field(description="Input that fits the capability's input schema.")] = {},  # noqa: B006
) -> CallAnswer:
    """Call one capability directly, outside any run. Use it to try a capability out while writing a plan.

    It really acts, and nothing of it is stored: a result that matters belongs into a workflow.
    """
    return await operations.sources.call_capability(call.app, name=name, input=input)


def tools() -> list[WorkflowTool]:
    """Make the tools of this file."""
    return [
        WorkflowTool.of(list_capabilities, title="List capabilities", annotations=ASKS_SOURCES),
        WorkflowTool.of(inspect_capability, title="Inspect a capability", annotations=ASKS_SOURCES),
        WorkflowTool.of(call_capability, title="Call a capability", annotations=ACTS),
    ]
