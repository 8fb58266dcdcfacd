"""`wf mcp-config`."""

import json
import tomllib
from pathlib import Path

import pytest

from tests.wf_mcp.cli.terminal import Terminal
from wf_mcp.cli.mcp_config import Client, client_config, server_command
from wf_mcp.cli.place import Place


@pytest.mark.parametrize("client", Client)
def test_a_client_gets_its_own_shape_with_absolute_paths(client: Client, tmp_path: Path) -> None:
    place = Place(home=tmp_path / "home", config=tmp_path / "wf.json")

    text = client_config(client, place, cwd=tmp_path)

    parsed = tomllib.loads(text) if client is Client.CODEX else json.loads(text)
    keys = {Client.CODEX: "mcp_servers", Client.VSCODE: "servers"}
    server = parsed[keys.get(client, "mcpServers")]["wf"]
    assert [server["command"], *server["args"]] == server_command(place, cwd=tmp_path)
    assert str(tmp_path / "home") in server["args"]
    assert Path(server["command"]).is_absolute()


def test_the_configuration_of_the_folder_is_named_and_nothing_that_is_the_default(tmp_path: Path) -> None:
    assert "--config" not in server_command(Place(), cwd=tmp_path)
    (tmp_path / "wf.json").write_text("{}", encoding="utf-8")
    assert server_command(Place(), cwd=tmp_path)[-2:] == ["--config", str(tmp_path / "wf.json")]


def test_stdout_holds_the_configuration_alone_and_stderr_says_where_it_goes(terminal: Terminal) -> None:
    ended = terminal.wf("mcp-config", "claude-desktop")

    assert "mcpServers" in json.loads(ended.stdout)
    assert "claude_desktop_config.json" in ended.stderr
