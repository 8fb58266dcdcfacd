"""The application of a server, and what it does unasked."""

from pathlib import Path

import anyio
import pytest
from mcp.shared.subscriptions import ResourceUpdated

from wf_mcp.server.application import application
from wf_mcp.server.resources import run_uri
from wf_mcp.server.updates import Updates

pytestmark = pytest.mark.anyio


async def test_while_it_is_open_clients_are_told_of_changes_and_sessions_are_gone_on_with(tmp_path: Path) -> None:
    updates, told, heard = Updates(), anyio.Event(), list[object]()

    def hear(event: object) -> None:
        heard.append(event)
        told.set()

    updates.bus.subscribe(hear)
    async with application(tmp_path / "home", None, updates) as app:
        await anyio.wait_all_tasks_blocked()  # each has begun, and waits for something to do
        app.runs.changes.tell("run_1")
        with anyio.fail_after(5):
            await told.wait()
        assert app.sessions.going.keeping
    assert heard == [ResourceUpdated(uri=run_uri("run_1"))]
