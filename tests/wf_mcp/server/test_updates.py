"""Clients that watch a run hear when it changes, in either protocol era."""

from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.shared.subscriptions import ResourceUpdated
from mcp.types import ResourceUpdatedNotification

from tests.wf_mcp.server.connected import ASK, Connected, connected
from wf_mcp.server.build import build_server
from wf_mcp.server.resources import run_uri

pytestmark = pytest.mark.anyio


async def test_a_listening_client_hears_that_its_run_went_on(tmp_path: Path) -> None:
    async with connected(tmp_path, "2026-07-28") as server:
        run_id = (await server.call("run_deployment", deployment_id=await server.deploy(ASK)))["run_id"]
        async with server.client.listen(resource_subscriptions=[run_uri(run_id)]) as heard:
            await server.call("resume_run", run_id=run_id, resume_payload={"answer": "well"})
            with anyio.fail_after(5):
                event = await anext(aiter(heard))

    assert event == ResourceUpdated(uri=run_uri(run_id))


@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
async def test_a_subscribed_client_hears_that_its_run_went_on_until_it_unsubscribes(tmp_path: Path) -> None:
    heard: list[str] = []
    told = anyio.Event()

    async def listen(message: Any) -> None:
        if isinstance(message, ResourceUpdatedNotification):
            heard.append(str(message.params.uri))
            told.set()

    client = Client(build_server(home=tmp_path), mode="legacy", message_handler=listen)
    async with client:
        server = Connected(client)
        deployment = await server.deploy(ASK)
        first, second = [(await server.call("run_deployment", deployment_id=deployment))["run_id"] for _ in range(2)]
        await client.subscribe_resource(run_uri(first))  # pyright: ignore[reportDeprecated]
        await client.subscribe_resource(run_uri(second))  # pyright: ignore[reportDeprecated]
        await client.unsubscribe_resource(run_uri(first))  # pyright: ignore[reportDeprecated]
        await server.call("cancel_run", run_id=first)
        await server.call("cancel_run", run_id=second)
        with anyio.fail_after(5):
            await told.wait()

    assert set(heard) == {run_uri(second)}
