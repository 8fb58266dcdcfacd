"""The SDK's server with what its decorators cannot say: unknown tools, completion, subscriptions."""

from typing import TYPE_CHECKING, Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.types import (
    CallToolResult,
    CompleteRequestParams,
    InputRequiredResult,
    SubscribeRequestParams,
    UnsubscribeRequestParams,
)

from wf_core.ids import close_matches
from wf_mcp.config import Redactor
from wf_mcp.errors import InvalidArgument
from wf_mcp.server import results
from wf_mcp.server.completion import complete
from wf_mcp.server.stdio import stdio_transport
from wf_mcp.server.updates import Updates

if TYPE_CHECKING:
    from wf_mcp.app import App


class WorkflowServer(MCPServer["App"]):
    """The server of `wf-mcp`. Its lifespan context is the application."""

    def __init__(self, name: str, *, updates: Updates, **options: Any) -> None:
        super().__init__(name, subscriptions=updates.bus, **options)
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
        self, name: str, arguments: dict[str, Any], context: "Context[App, Any] | None" = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool. An unknown one is an error that names the nearest."""
        known = [tool.name for tool in await self.list_tools()]
        if name not in known:
            nearest = close_matches(name, known)
            hint = f"Did you mean {', '.join(nearest)}?" if nearest else "tools/list names every tool."
            redactor = Redactor() if context is None else context.request_context.lifespan_context.redactor
            error = InvalidArgument(f"There is no tool {name!r}.", hint=hint)
            return results.failure(error, tool=name, redactor=redactor)
        return await super().call_tool(name, arguments, context)
