"""What arrives on stdin is answered, whatever it is."""

import json
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from tests.wf_mcp.server.test_messages import CALL, UNREADABLE

HANDSHAKE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}


@contextmanager
def serving(folder: Path) -> Generator[subprocess.Popen[bytes]]:
    with subprocess.Popen(
        [sys.executable, "-m", "wf_mcp", "--home", str(folder / "home")],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as server:
        yield server
        server.kill()


def test_after_lines_that_cannot_be_read_the_server_goes_on(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(json.dumps(HANDSHAKE).encode() + b"\n")
        server.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n\n   \r\n')
        unreadable = dict(enumerate(UNREADABLE.values(), 10))
        for number, arguments in unreadable.items():
            server.stdin.write(CALL % (b"%d" % number, arguments))
        server.stdin.write(CALL % (b"99", b"{}"))
        server.stdin.flush()
        answers = [json.loads(server.stdout.readline()) for _ in (1, *unreadable, 99)]
    assert sorted(answer["id"] for answer in answers) == [1, *unreadable, 99]
    assert {answer["error"]["code"] for answer in answers if 10 <= answer["id"] < 20} == {-32700}
    assert next(answer for answer in answers if answer["id"] == 99)["result"]["structuredContent"]["runs"] == []


def test_a_request_whose_id_cannot_be_one_is_answered_and_a_notification_is_not(tmp_path: Path) -> None:
    """JSON-RPC 2.0: what has an id is a request, and each request is answered."""
    with serving(tmp_path) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(json.dumps(HANDSHAKE).encode() + b"\n")
        server.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized","params":{"id":3}}\n')
        for written in (b"null", b"1.5", b'{"a":1}', b"[1]", b"true"):
            server.stdin.write(CALL % (written, b"{}"))
        server.stdin.write(CALL % (b"99", b"{}"))
        server.stdin.flush()
        answers = [json.loads(server.stdout.readline()) for _ in range(7)]
    refused = [answer["error"]["code"] for answer in answers if answer["id"] is None]
    assert (refused, {answer["id"] for answer in answers}) == ([-32600] * 5, {1, None, 99})
