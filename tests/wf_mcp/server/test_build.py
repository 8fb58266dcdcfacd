"""The server as a client meets it."""

from pathlib import Path

import pytest

from tests.wf_mcp.desk import desk
from tests.wf_mcp.server.connected import Era, connected
from wf_mcp.config.load import InvalidConfig
from wf_mcp.server.build import INSTRUCTIONS, SESSIONS, build_server

pytestmark = pytest.mark.anyio


async def test_a_client_learns_what_the_server_is_for(tmp_path: Path, era: Era) -> None:
    async with connected(tmp_path, era) as server:
        assert server.client.instructions == INSTRUCTIONS
        assert server.client.server_info is not None
        assert server.client.server_info.name == "wf-mcp"


def test_instructions_are_short_enough_to_be_shown_whole() -> None:
    """Clients cut them at 2 KB."""
    assert len((INSTRUCTIONS + SESSIONS).encode()) < 2048


async def test_toolsets_limit_what_is_offered(tmp_path: Path) -> None:
    server = build_server(home=tmp_path, toolsets=["runs"])

    names = {tool.name for tool in await server.list_tools()}

    assert "run_deployment" in names
    assert "save_artifact" not in names


async def test_sessions_are_offered_where_an_agent_is_configured_or_somebody_asks_for_them(tmp_path: Path) -> None:
    work = desk(tmp_path / "desk")
    (tmp_path / "wf.json").write_text("{}", encoding="utf-8")
    bare = build_server(home=tmp_path, config=tmp_path / "wf.json")
    with_agent = build_server(home=tmp_path, config=work.config)
    asked = build_server(home=tmp_path, config=tmp_path / "wf.json", toolsets=["sessions"])
    refused = build_server(home=tmp_path, config=work.config, toolsets=["runs", "authoring"])

    offered = [{tool.name for tool in await server.list_tools()} for server in (bare, with_agent, asked, refused)]

    assert ["start_session" in names for names in offered] == [False, True, True, False]
    assert [str(server.instructions).endswith(SESSIONS) for server in (bare, with_agent, asked, refused)] == [
        False, True, True, False,
    ]  # fmt: skip
    assert offered[1] >= offered[0]


def test_a_configuration_that_cannot_be_read_is_said_at_once(tmp_path: Path) -> None:
    (tmp_path / "wf.json").write_text('{"agents": 7}', encoding="utf-8")
    with pytest.raises(InvalidConfig):
        build_server(home=tmp_path, config=tmp_path / "wf.json")
