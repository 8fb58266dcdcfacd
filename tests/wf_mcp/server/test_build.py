"""The server as a client meets it."""

from pathlib import Path

import pytest

from tests.wf_mcp.server.connected import Era, connected
from wf_mcp.server.build import INSTRUCTIONS, build_server

pytestmark = pytest.mark.anyio


async def test_a_client_learns_what_the_server_is_for(tmp_path: Path, era: Era) -> None:
    async with connected(tmp_path, era) as server:
        assert server.client.instructions == INSTRUCTIONS
        assert server.client.server_info is not None
        assert server.client.server_info.name == "wf-mcp"


def test_instructions_are_short_enough_to_be_shown_whole() -> None:
    """Clients cut them at 2 KB."""
    assert len(INSTRUCTIONS.encode()) < 2048


async def test_toolsets_limit_what_is_offered(tmp_path: Path) -> None:
    server = build_server(home=tmp_path, toolsets=["runs"])

    names = {tool.name for tool in await server.list_tools()}

    assert "run_deployment" in names
    assert "save_artifact" not in names
