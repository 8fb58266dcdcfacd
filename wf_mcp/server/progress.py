"""Progress notifications: each step of a run that a request waits for."""

from typing import Any

from mcp.server.mcpserver import Context


class Progress:
    """Tells the client that asked how far the run is. Does nothing when the client did not ask for progress."""

    def __init__(self, context: Context[Any, Any]) -> None:
        self._context = context

    async def __call__(self, steps_executed: int, message: str) -> None:
        await self._context.report_progress(steps_executed, message=message)
