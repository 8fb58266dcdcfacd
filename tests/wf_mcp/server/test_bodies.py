"""What is posted over HTTP."""

import json
from typing import Any

import httpx2
import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from wf_core.jsonvalue import size
from wf_mcp.server.bodies import CheckedBodies, longest_body

pytestmark = pytest.mark.anyio

MAX_BYTES = 1_000_000


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with what was posted."""
    await Response(await Request(scope, receive).body())(scope, receive, send)


async def post(body: Any, method: str = "POST") -> httpx2.Response:
    transport = httpx2.ASGITransport(CheckedBodies(echo, max_bytes=MAX_BYTES))
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
        return await client.request(method, "/mcp", content=body)


def call(value: Any) -> dict[str, Any]:
    arguments = {"run_id": "run_1", "resume_payload": value}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "resume_run", "arguments": arguments}}


@pytest.mark.parametrize("letter", ["x", "é", "€", "😀", "\\", '"', "\x01"])
async def test_a_value_within_the_bound_is_taken_however_it_is_written(letter: str) -> None:
    value = letter * ((MAX_BYTES - 2) // (size(letter) - 2))
    for body in (
        json.dumps(call(value)),
        json.dumps(call(value), ensure_ascii=False),
        json.dumps(call(value), indent=4),
    ):
        answer = await post(body.encode())
        assert (answer.status_code, answer.text) == (200, body)


async def test_what_comes_in_pieces_is_passed_on_whole() -> None:
    body = json.dumps(call("x")).encode()

    async def pieces() -> Any:
        for place in range(0, len(body), 7):
            yield body[place : place + 7]

    assert (await post(pieces())).content == body


async def test_a_longer_body_is_refused_with_the_bound() -> None:
    answer = await post(json.dumps(call("x" * longest_body(MAX_BYTES))).encode())
    told = answer.json()
    assert (answer.status_code, told["id"], told["error"]["code"]) == (413, None, -32600)
    assert told["error"]["data"]["error"]["code"] == "too_large"
    for bound in (str(longest_body(MAX_BYTES)), str(MAX_BYTES), "`max_bytes` in wf.json"):
        assert bound in told["error"]["message"]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"[]", -32600),
        (b"{}", -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"x"}', -32600),
        (b"", -32700),
        (b"hello", -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":"\\ud800"}}', -32700),
    ],
)
async def test_what_is_no_message_is_refused_in_the_words_of_the_protocol(body: bytes, code: int) -> None:
    answer = await post(body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, code)
    assert answer.headers["content-type"] == "application/json"
    assert "pydantic" not in answer.text


async def test_what_is_not_posted_is_passed_on() -> None:
    assert (await post(b"[]", "DELETE")).content == b"[]"
