"""The program `wf-mcp`: its options and how it ends."""

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from wf_mcp.__main__ import main

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--http", "0.0.0.0:80"], "who may use the server cannot be configured yet"),
        (["--toolsets", "run"], "'run' is no toolset; there is runs"),
        (["--toolsets", ""], "'' is no toolset; there is runs, authoring"),
    ],
)
def test_wrong_options_are_refused_with_what_would_be_right(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)

    assert ended.value.code == 2
    assert said in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ('{"pythonSource": {}}', "pythonSources"),
        ('{"store": "nothing://x"}', "This is no address of a store"),
    ],
)
def test_a_configuration_that_cannot_be_used_is_said_on_stderr_without_a_stack_trace(
    tmp_path: Path, written: str, said: str
) -> None:
    """Before anything is answered."""
    (tmp_path / "wf.json").write_text(written, encoding="utf-8")

    ended = subprocess.run(
        [sys.executable, "-m", "wf_mcp", "--home", str(tmp_path / "home")],
        cwd=tmp_path,
        input=json.dumps(INITIALIZE) + "\n",
        capture_output=True,
        text=True,
        check=False,
    )

    assert ended.returncode == 2
    assert ended.stdout == ""
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr


def shell(folder: Path, redirected: str) -> subprocess.CompletedProcess[str]:
    command = f'exec "$0" -m wf_mcp --home "$1" {redirected}'
    return subprocess.run(
        ["/bin/sh", "-c", command, sys.executable, str(folder / "home")],
        cwd=folder,
        input="",
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("closed", ["<&-", ">&-", "<&- >&-"])
def test_without_a_client_to_speak_to_it_says_so(tmp_path: Path, closed: str) -> None:
    ended = shell(tmp_path, closed)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("wf-mcp: stdin or stdout is closed.")
    assert "Traceback" not in ended.stderr


def test_without_stderr_it_serves_and_says_nothing(tmp_path: Path) -> None:
    ended = shell(tmp_path, "2>&-")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


def test_a_port_that_is_taken_is_said_without_a_stack_trace(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ended = shell(tmp_path, f"--http {taken.getsockname()[1]}")
    assert ended.returncode == 2
    assert "Address already in use" in ended.stderr
    assert "Traceback" not in ended.stderr
