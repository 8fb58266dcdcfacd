"""The SDK's server with what its decorators cannot say: unknown tools, completion, subscriptions."""

from collections.abc import Sequence
from typing import Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.tools import Tool, ToolManager
from mcp.types import (
    CallToolResult,
    CompleteRequestParams,
    GetPromptResult,
    InputRequiredResult,
    SubscribeRequestParams,
    UnsubscribeRequestParams,
)

from wf_core.ids import close_matches
from wf_mcp.config import Redactor
from wf_mcp.errors import InvalidArgument
from wf_mcp.server import results
from wf_mcp.server.completion import complete
from wf_mcp.server.opening import Opening
from wf_mcp.server.prompts import check_prompt
from wf_mcp.server.stdio import stdio_transport
from wf_mcp.server.toolsets import Toolset
from wf_mcp.server.updates import Updates


class OfferedTools(ToolManager):
    """The tools of some sets, made when a client first asks for one: their schemas take a while."""

    def __init__(self, toolsets: Sequence[Toolset]) -> None:
        super().__init__()
        self._toolsets = toolsets

    def get_tool(self, name: str) -> Tool | None:
        """Get a tool by its name."""
        self._make()
        return super().get_tool(name)

    def list_tools(self) -> list[Tool]:
        """List them, in the order in which a client should read them."""
        self._make()
        return super().list_tools()

    def _make(self) -> None:
        if not self._tools:
            from wf_mcp.server.tools import tools_of  # noqa: PLC0415 - see above

            self._tools.update((tool.name, tool) for tool in tools_of(self._toolsets))


class WorkflowServer(MCPServer[Opening]):
    """The server of `wf-mcp`. Its lifespan context opens the application."""

    def __init__(
        self, name: str, *, toolsets: Sequence[Toolset], updates: Updates, max_bytes: int, **options: Any
    ) -> None:
        super().__init__(name, subscriptions=updates.bus, **options)
        self.max_bytes = max_bytes
        self._tool_manager = OfferedTools(toolsets)
        # The SDK's decorator for completion hands over neither the request nor the application, and for the
        # subscriptions of 2025-11-25 it has none.
        serve = self._lowlevel_server.add_request_handler
        serve("completion/complete", CompleteRequestParams, complete)
        serve("resources/subscribe", SubscribeRequestParams, updates.subscribe)
        serve("resources/unsubscribe", UnsubscribeRequestParams, updates.unsubscribe)

    async def run_stdio_async(self) -> None:
        """Serve the client on the other end of stdin and stdout until it goes away."""
        served = self._lowlevel_server
        async with stdio_transport() as (reading, writing):
            await served.run(reading, writing, served.create_initialization_options())

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Opening, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool. An unknown one is an error that names the nearest."""
        known = [tool.name for tool in await self.list_tools()]
        if name not in known:
            nearest = close_matches(name, known)
            hint = f"Did you mean {', '.join(nearest)}?" if nearest else "tools/list names every tool."
            error = InvalidArgument(f"There is no tool {name!r}.", hint=hint)
            return results.failure(error, tool=name, redactor=await _redactor(context))
        return await super().call_tool(name, arguments, context)

    async def get_prompt(
        self, name: str, arguments: dict[str, Any] | None = None, context: Context[Opening, Any] | None = None
    ) -> GetPromptResult | InputRequiredResult:
        """Get a prompt.

        Raises:
            MCPError: there is no such prompt, or its arguments are others.
        """
        check_prompt(await self.list_prompts(), name, arguments or {})
        return await super().get_prompt(name, arguments, context)


async def _redactor(context: Context[Opening, Any] | None) -> Redactor:
    return Redactor() if context is None else (await context.request_context.lifespan_context.app()).redactor
