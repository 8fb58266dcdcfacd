"""A run belongs to the server: a client that stops waiting does not stop it."""

from pathlib import Path

import anyio
import pytest
from mcp import MCPError

from tests.stories.gate import Gate
from tests.stories.plans import node, plan
from tests.stories.workplace import Era, Server, Workplace

pytestmark = pytest.mark.anyio

HELD = plan("held", hold=node("gate.pass_through", result="result"))


async def the_only_run(server: Server) -> str:
    runs = (await server.call("list_runs"))["runs"]
    assert len(runs) == 1
    return runs[0]["run_id"]


async def test_a_client_that_cancels_its_call_does_not_stop_the_run(tmp_path: Path, era: Era) -> None:
    workplace = Workplace(tmp_path, era)
    gate = Gate(workplace)
    async with workplace.server() as server:
        await server.deploy(HELD)
        async with anyio.create_task_group() as waiting:
            waiting.start_soon(server.run, "held")
            await gate.until_entered()
            waiting.cancel_scope.cancel()
        run_id = await the_only_run(server)
        assert (await server.call("inspect_run", run_id=run_id))["status"] == "running"
        gate.open()
        done = await server.call("inspect_run", run_id=run_id, wait_seconds=30)
    assert (done["status"], done["output"], gate.entered) == ("completed", {"result": "through"}, 1)


async def test_a_client_whose_patience_ends_does_not_stop_the_run(tmp_path: Path, era: Era) -> None:
    workplace = Workplace(tmp_path, era)
    gate = Gate(workplace)
    async with workplace.server() as server:
        await server.deploy(HELD)
        with pytest.raises(MCPError):
            await server.client.call_tool("run_deployment", {"deployment_id": "held"}, read_timeout_seconds=0.5)
        await gate.until_entered()
        run_id = await the_only_run(server)
        gate.open()
        done = await server.call("inspect_run", run_id=run_id, wait_seconds=30)
    assert (done["status"], done["output"], gate.entered) == ("completed", {"result": "through"}, 1)


async def test_a_client_that_leaves_in_the_middle_of_its_call_does_not_stop_the_run(tmp_path: Path, era: Era) -> None:
    workplace = Workplace(tmp_path, era)
    gate = Gate(workplace)
    async with workplace.http_server() as url:

        async def leave_early() -> None:
            async with workplace.connect(url) as server:
                await server.run(await server.deploy(HELD))

        async with anyio.create_task_group() as leaving:
            leaving.start_soon(leave_early)
            await gate.until_entered()
            leaving.cancel_scope.cancel()
        async with workplace.connect(url) as server:
            run_id = await the_only_run(server)
            assert (await server.call("inspect_run", run_id=run_id))["status"] == "running"
            gate.open()
            done = await server.call("inspect_run", run_id=run_id, wait_seconds=30)
    assert (done["status"], done["output"], gate.entered) == ("completed", {"result": "through"}, 1)


async def test_a_server_that_is_left_on_stdio_ends_and_its_run_is_not_lost(tmp_path: Path, era: Era) -> None:
    """The gate stays closed: the server has to end although a call of a Python source has not. Its call is in doubt."""
    workplace = Workplace(tmp_path, era)
    gate = Gate(workplace)
    async with workplace.server() as server:
        await server.call("run_deployment", deployment_id=await server.deploy(HELD), wait_seconds=0)
        await gate.until_entered()
    async with workplace.server() as server:
        seen = await server.call("inspect_run", run_id=await the_only_run(server), wait_seconds=30)
    assert (seen["deployment_id"], seen["status"], seen["resume_readiness"]) == ("held", "interrupted", "blocked")
    assert [(call["step_id"], call["state"]) for call in seen["pending_calls"]] == [("hold", "in_doubt")]
    assert gate.entered == 1
