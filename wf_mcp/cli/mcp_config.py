"""`wf mcp-config CLIENT`: what to put into an MCP client's configuration."""

import json
import shutil
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from wf_mcp.cli.operate import guard
from wf_mcp.cli.output import console, print_text
from wf_mcp.cli.paths import named
from wf_mcp.cli.place import Place
from wf_mcp.cli.screen import line
from wf_mcp.cli.visible import exact_json

app = typer.Typer(add_completion=False)

NAME = "wf"
"""What the server is called in the client. Short: clients put it in front of every tool's name."""


class Client(StrEnum):
    """A program that speaks MCP, by the shape of its configuration."""

    CLAUDE_DESKTOP = "claude-desktop"
    CLAUDE_CODE = "claude-code"
    VSCODE = "vscode"
    CURSOR = "cursor"
    CODEX = "codex"


FILES = {
    Client.CLAUDE_DESKTOP: "claude_desktop_config.json (Settings, Developer, Edit Config)",
    Client.CLAUDE_CODE: ".mcp.json in the project",
    Client.VSCODE: ".vscode/mcp.json in the project",
    Client.CURSOR: ".cursor/mcp.json in the project, or ~/.cursor/mcp.json",
    Client.CODEX: "~/.codex/config.toml",
}


@app.command()
def mcp_config(
    context: typer.Context, client: Annotated[Client, typer.Argument(metavar="CLIENT", help=", ".join(Client))]
) -> None:
    """Print the configuration for an MCP client; it runs the server over this home and this configuration."""
    place: Place = context.find_root().obj
    print_text(client_config(client, place, cwd=guard(_working_folder)))
    console(stderr=True).print(line(f"goes into {FILES[client]}", style="dim"))


def _working_folder() -> Path:
    with named("The folder that this was started in", hint="Change into one that is there."):
        return Path.cwd()


def client_config(client: Client, place: Place, *, cwd: Path) -> str:
    """Write the configuration. Paths in it are absolute: a client starts the server in a folder of its own."""
    command, *arguments = server_command(place, cwd=cwd)
    if client is Client.CODEX:
        return "\n".join(
            (
                f"[mcp_servers.{NAME}]",
                f"command = {json.dumps(command)}",
                f"args = {json.dumps(arguments)}",
                "startup_timeout_sec = 30",
                "tool_timeout_sec = 60",
            )
        )
    entry = {"command": command, "args": arguments}
    key, entry = ("servers", {"type": "stdio", **entry}) if client is Client.VSCODE else ("mcpServers", entry)
    return f'{{"{key}": {{\n  "{NAME}": {exact_json(entry, indent=None)}\n}}}}'


def server_command(place: Place, *, cwd: Path) -> list[str]:
    """Give the command that starts the server here, whatever the client's PATH is."""
    beside = Path(sys.executable).with_name("wf-mcp")
    found = str(beside) if beside.exists() else shutil.which("wf-mcp")
    command = [found] if found else [sys.executable, "-m", "wf_mcp"]
    config = place.config or (cwd / "wf.json" if (cwd / "wf.json").is_file() else None)
    if place.home:
        command += ["--home", str(place.home.resolve())]
    if config:
        command += ["--config", str(config.resolve())]
    return command
