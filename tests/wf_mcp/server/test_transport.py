"""How the server is reached."""

import json
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from tests.wf_mcp.server.connected import Era
from wf_mcp.errors import InvalidArgument
from wf_mcp.server.transport import Address, read_address

pytestmark = pytest.mark.anyio

NOISY = """
import atexit, os, subprocess, sys
from wf_core import capability

print("imported")

@capability(read_only=True)
def speak() -> str:
    print("a whole line")
    print("half a line", end="")
    os.write(1, b"past Python\\n")
    subprocess.run(["echo", "from a child"])
    return "done"

atexit.register(print, "at exit")
"""


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("9000", Address("127.0.0.1", 9000)),
        ("localhost", Address("localhost", 8000)),
        ("127.0.0.1:9000", Address("127.0.0.1", 9000)),
        (":9000", Address("127.0.0.1", 9000)),
        ("::1", Address("::1", 8000)),
        ("[::1]:9000", Address("::1", 9000)),
    ],
)
def test_an_address_may_leave_out_host_or_port(text: str, address: Address) -> None:
    assert read_address(text) == address
    assert read_address(str(address)) == address


@pytest.mark.parametrize("text", ["0.0.0.0:9000", "192.168.1.2", "example.org:80"])
def test_an_address_that_other_machines_reach_is_refused(text: str) -> None:
    """Who may use it cannot be told there."""
    with pytest.raises(InvalidArgument, match="can be reached from other machines"):
        read_address(text)


@pytest.mark.parametrize("text", ["localhost:http", "127.0.0.1:0", "127.0.0.1:70000"])
def test_what_is_no_port_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgument, match="is no port"):
        read_address(text)


def test_nothing_but_mcp_is_written_to_stdout_whatever_a_source_prints(tmp_path: Path) -> None:
    """A print, a raw write, a child process, what is left in a buffer, what is printed at exit: all of it on stderr."""
    (tmp_path / "noisy.py").write_text(NOISY, encoding="utf-8")
    (tmp_path / "wf.json").write_text('{"pythonSources": {"noisy": {"module": "noisy"}}}', encoding="utf-8")
    handshake = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": handshake},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {
            "jsonrpc": "2.0",
            "id": 2,
            "method": "tools/call",
            "params": {"name": "call_capability", "arguments": {"name": "noisy.speak"}},
        },
    ]
    with subprocess.Popen(
        [sys.executable, "-m", "wf_mcp", "--home", str(tmp_path / "home")],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        for message in messages:
            server.stdin.write(json.dumps(message) + "\n")
        server.stdin.flush()
        answers = [json.loads(server.stdout.readline()) for _ in range(2)]
        rest, log = server.communicate()

    assert answers[1]["result"]["structuredContent"] == {"outcome": "ok", "output": {"result": "done"}}
    assert rest == ""
    for line in ("imported", "a whole line", "half a line", "past Python", "from a child", "at exit"):
        assert line in log


@contextmanager
def over_http(folder: Path) -> Generator[str]:
    """Serve over HTTP, and give the address."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    command = [sys.executable, "-m", "wf_mcp", "--home", str(folder / "home"), "--http", str(port)]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        address = server.stderr.readline().split()[-1]
        yield address
        server.kill()


async def test_arguments_may_be_as_long_over_http_as_the_configuration_says(tmp_path: Path, era: Era) -> None:
    """The SDK alone takes 4 MiB."""
    (tmp_path / "wf.json").write_text('{"max_bytes": 5000000}', encoding="utf-8")
    with over_http(tmp_path) as address:
        async with Client(address, mode="legacy" if era == "2025-11-25" else "auto") as client:

            async def code(length: int) -> str:
                arguments = {"deployment_id": "none", "workflow_input": {"text": "x" * length}}
                result = await client.call_tool("run_deployment", arguments)
                assert result.structured_content is not None
                return result.structured_content["error"]["code"]

            assert await code(4_900_000) == "deployment_not_found"
            assert await code(5_000_000) == "too_large"
            with pytest.raises(MCPError, match="at most 16000000 are taken"):
                await code(17_000_000)
            assert await code(1) == "deployment_not_found"
