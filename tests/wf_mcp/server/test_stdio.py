"""What arrives on stdin is answered, whatever it is."""

import json
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp.types import jsonrpc_message_adapter
from pydantic import ValidationError

from wf_mcp.server.stdio import refusal

HANDSHAKE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
CALL = b'{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"id":9,"name":"list_runs","arguments":%s}}\n'

UNREADABLE: dict[str, bytes] = {
    "an integer of 5000 digits": b"9" * 5000,
    "lone surrogate": rb'{"deployment_id":"\ud800"}',
    "no UTF-8": b'{"deployment_id":"\xff"}',
    "too deep": b'{"cursor":' + b"[" * 400 + b"]" * 400 + b"}",
    "unfinished": b'{"cursor":',
}


def answer_to(line: bytes) -> dict[str, Any]:
    with pytest.raises(ValidationError) as refused:
        jsonrpc_message_adapter.validate_json(line, by_name=False)
    return refusal(refused.value).model_dump(mode="json", exclude_unset=True)


@pytest.mark.parametrize("arguments", UNREADABLE.values(), ids=UNREADABLE)
@pytest.mark.parametrize(("written", "meant"), [(b"7", 7), (b'"seven"', "seven")])
def test_a_request_that_cannot_be_read_is_answered_under_its_id(arguments: bytes, written: bytes, meant: Any) -> None:
    answer = answer_to(CALL % (written, arguments))
    assert (answer["id"], answer["error"]["code"]) == (meant, -32700)


@pytest.mark.parametrize(
    "line",
    [
        b"hello",
        b"{",
        b'"' * 3,
        b'{"params":{"id":3,"method":"x"},',
        b'{"id":3,"result":{"a":"\\ud800"}}',
        b'{"id":1.5,"method":"x","params":"\\ud800"}',
        b'{"id":[3],"method":"x","params":"\\ud800"}',
    ],
)
def test_what_has_no_id_of_a_request_is_answered_without_one(line: bytes) -> None:
    answer = answer_to(line)
    assert (answer["id"], answer["error"]["code"]) == (None, -32700)


@pytest.mark.parametrize("line", [b"[]", b"{}", b"3", b'{"jsonrpc":"1.0","id":3,"method":"x"}'])
def test_json_that_is_no_message_is_an_invalid_request(line: bytes) -> None:
    assert answer_to(line)["error"]["code"] == -32600


def test_a_long_line_costs_its_length() -> None:
    """Quotes that are never closed: a pattern that goes back would take hours."""
    assert answer_to(b'{"id":3,"method":"x","params":"' + b'\\"a' * 1_000_000)["id"] == 3


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
