"""Tools for deployments, through a client."""

from pathlib import Path

import pytest

from tests.wf_mcp.server.connected import ASK, connected

pytestmark = pytest.mark.anyio


async def test_a_deployment_is_created_once_shown_listed_and_deleted(tmp_path: Path) -> None:
    async with connected(tmp_path) as server:
        await server.deploy(ASK)
        twice = await server.refuse("create_deployment", deployment_id="ask", artifact_id="ask")
        again = await server.call("create_deployment", deployment_id="ask", artifact_id="ask", replace=True)
        shown = await server.call("inspect_deployment", deployment_id="ask")
        listed = await server.call("list_deployments")
        deleted = await server.call("delete_deployment", deployment_id="ask")

    assert twice["code"] == "deployment_exists"
    assert again["runnable"]
    assert shown["artifact_version"] == 1
    assert [row["deployment_id"] for row in listed["deployments"]] == ["ask"]
    assert deleted == {"deployment_id": "ask"}


async def test_a_deployment_without_its_sources_says_what_is_missing(tmp_path: Path) -> None:
    steps = {"one": {"type": "node", "use": "nowhere.act", "routes": {"ok": "__end__"}}}
    async with connected(tmp_path) as server:
        await server.call("save_artifact", artifact_id="lost", plan={"name": "lost", "start": "one", "steps": steps})
        deployment = await server.call("create_deployment", deployment_id="lost", artifact_id="lost")

    assert not deployment["runnable"]
    assert "nowhere" in deployment["diagnostics"][0]["message"]
