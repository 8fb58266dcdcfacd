"""Ctrl-C and SIGTERM end the program, and everything that it started."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import anyio
import pytest

from wf_mcp.server.ending import end_in_time, until_told

HANDSHAKE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
LISTING = {
    "jsonrpc": "2.0",
    "id": 2,
    "method": "tools/call",
    "params": {"name": "list_capabilities", "arguments": {"source": "deaf"}},
}
DEAF = """
import os, signal
from pathlib import Path
from mcp.server import MCPServer

Path("deaf.pid").write_text(str(os.getpid()))
MCPServer("deaf").run("stdio")
while True:
    signal.pause()  # stdin has ended, which means nothing to this one
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_what_is_served_in_order(number: signal.Signals) -> None:
    closed: list[str] = []

    async def serve() -> None:
        try:
            os.kill(os.getpid(), number)
            await anyio.sleep_forever()
        finally:
            closed.append("in order")

    told: list[int] = []
    assert anyio.run(until_told, serve, told.append) == 128 + number
    assert (told, closed) == ([128 + number], ["in order"])


def test_what_ends_by_itself_has_no_status() -> None:
    async def serve() -> None: ...

    assert anyio.run(until_told, serve, end_in_time) is None


def test_what_hangs_does_not_hold_up_the_end() -> None:
    """In a process of its own, because it does not come back."""
    hang = """
import os, signal, time
from wf_mcp.server import ending

async def serve():
    try:
        os.kill(os.getpid(), signal.SIGTERM)
        await ending.anyio.sleep_forever()
    finally:
        time.sleep(1000)

ending.ORDERLY_SECONDS = 0.1
ending.anyio.run(ending.until_told, serve, ending.end_in_time)
"""
    assert subprocess.run([sys.executable, "-c", hang], check=False, timeout=20).returncode == 128 + signal.SIGTERM


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_server_ends_with_its_upstreams_though_its_client_stays(tmp_path: Path, number: signal.Signals) -> None:
    """The client holds stdin open, and the upstream does not care about the end of its own."""
    (tmp_path / "deaf.py").write_text(DEAF, encoding="utf-8")
    server = {"command": sys.executable, "args": ["deaf.py"]}
    (tmp_path / "wf.json").write_text(json.dumps({"mcpServers": {"deaf": server}}), encoding="utf-8")
    with subprocess.Popen(
        [sys.executable, "-m", "wf_mcp", "--home", str(tmp_path / "home")],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        for message in (HANDSHAKE, {"jsonrpc": "2.0", "method": "notifications/initialized"}, LISTING):
            running.stdin.write(json.dumps(message) + "\n")
        running.stdin.flush()
        for _ in range(2):
            running.stdout.readline()
        upstream = int((tmp_path / "deaf.pid").read_text(encoding="utf-8"))
        running.send_signal(number)
        told = time.monotonic()
        assert running.wait(timeout=20) == 128 + number
        assert time.monotonic() - told < 9
        assert running.stderr is not None
        assert "Traceback" not in running.stderr.read()
    with pytest.raises(ProcessLookupError):
        os.kill(upstream, 0)
