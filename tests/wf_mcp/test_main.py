"""The program `wf-mcp`: its options and how it ends."""

import json
import os
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

TALKATIVE = """
import logging, os, sys
from wf_core import capability

@capability(read_only=True)
def talk() -> dict:
    gate = os.environ["GATE"]
    try:
        raise RuntimeError(f"raised {gate}")
    except RuntimeError:
        logging.getLogger("ops").exception("logged %s", gate)
    print("printed", gate)
    sys.stdout.write(f"written {gate}\\n")
    return {}
"""


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


def test_what_a_python_source_logs_and_prints_is_passed_on_without_secrets(tmp_path: Path) -> None:
    (tmp_path / "ops.py").write_text(TALKATIVE, encoding="utf-8")
    config = {
        "pythonSources": {"ops": {"module": "ops"}},
        "mcpServers": {"off": {"command": "x", "env": {"KEY": "${GATE}"}, "enabled": False}},
    }
    (tmp_path / "wf.json").write_text(json.dumps(config), encoding="utf-8")
    call = {"name": "call_capability", "arguments": {"name": "ops.talk"}}
    messages: list[object] = [
        INITIALIZE,
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call},
    ]
    with subprocess.Popen(
        [sys.executable, "-m", "wf_mcp", "--home", "home"],
        cwd=tmp_path,
        env={**os.environ, "GATE": "open sesame " * 9 + "1234567"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        assert server.stderr is not None
        server.stdin.write("".join(json.dumps(message) + "\n" for message in messages))
        server.stdin.flush()
        answer = next(line for line in server.stdout if '"id":2' in line)
        server.stdin.close()
        said = server.stderr.read()

    assert '"outcome":"ok"' in answer
    for words in ("logged [redacted]", "RuntimeError: raised [redacted]", "printed [redacted]", "written [redacted]"):
        assert words in said
    assert "sesame" not in said
