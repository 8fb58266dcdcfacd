"""The application of a server, and what it does unasked. Most of the program is loaded with this module."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from wf_mcp.app import App
from wf_mcp.config import Redactor
from wf_mcp.execution.callees.ending import keep_ending_callees
from wf_mcp.execution.recovery import keep_taking_over
from wf_mcp.execution.sessions.keeping import keep_going
from wf_mcp.server.updates import Updates


@asynccontextmanager
async def application(
    home: Path | None, config: Path | None, updates: Updates, redactor: Redactor | None = None
) -> AsyncGenerator[App]:
    """Open the application; while it is open, clients are told of changes, and what others left is gone on with."""
    async with (
        App.open(home=home, config=config, redactor=redactor) as app,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(updates.tell, app.runs.changes)
        tasks.start_soon(keep_taking_over, app.runs, app.stores.runs)
        if app.callees is not None:
            tasks.start_soon(keep_ending_callees, app.callees.ending.all_callees)
        tasks.start_soon(keep_going, app.sessions)
        yield app
        tasks.cancel_scope.cancel()
