"""What becomes of HTTP requests to an upstream server."""

import json
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from wf_mcp.sources.upstream.faults import BROKEN, NOT_SENT, REFUSED, SESSION_GONE
from wf_mcp.sources.upstream.http import JsonRpcClient

pytestmark = pytest.mark.anyio

URL = "https://user:pass@example.com:8443/secret/path?key=sesame"


async def answer(respond: Callable[[httpx2.Request], httpx2.Response], **headers: str) -> httpx2.Response:
    async with JsonRpcClient(transport=httpx2.MockTransport(respond)) as client:
        return await client.post(URL, json={"jsonrpc": "2.0", "id": 1, "method": "tools/call"}, headers=headers)


async def error(respond: Callable[[httpx2.Request], httpx2.Response], **headers: str) -> dict[str, Any]:
    response = await answer(respond, **headers)
    assert response.headers["content-type"] == "application/json"
    return json.loads(response.content)["error"]


def raising(failure: Exception) -> Callable[[httpx2.Request], httpx2.Response]:
    def respond(request: httpx2.Request) -> httpx2.Response:
        raise failure

    return respond


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (httpx2.ConnectError("x"), NOT_SENT),
        (httpx2.ConnectTimeout("x"), NOT_SENT),
        (httpx2.PoolTimeout("x"), NOT_SENT),
        (httpx2.ReadError("x"), BROKEN),
        (httpx2.WriteError("x"), BROKEN),
        (httpx2.RemoteProtocolError("x"), BROKEN),
    ],
)
async def test_a_failure_below_http_answers_the_one_request(failure: Exception, code: int) -> None:
    assert (await error(raising(failure)))["code"] == code


@pytest.mark.parametrize(
    ("status", "code"), [(401, REFUSED), (403, REFUSED), (404, REFUSED), (429, REFUSED), (500, BROKEN), (503, BROKEN)]
)
async def test_a_refusal_by_status_is_told_apart_from_what_leaves_the_effect_open(status: int, code: int) -> None:
    told = await error(lambda _: httpx2.Response(status, text="<html>sesame</html>"))

    assert told["code"] == code
    assert told["message"].startswith(f"example.com:8443 answered HTTP {status}")


async def test_messages_name_the_server_and_nothing_that_may_be_secret() -> None:
    def refuse(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(401, text=URL)

    for respond in (raising(httpx2.ConnectError(URL)), refuse):
        message = (await error(respond))["message"]
        assert "example.com:8443" in message
        assert not any(secret in message for secret in ("user", "pass", "secret", "sesame"))


async def test_a_session_that_the_server_forgot_is_told_apart_from_a_wrong_url() -> None:
    def respond(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(404, json={"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "gone"}})

    assert (await error(respond, **{"mcp-session-id": "1"}))["code"] == SESSION_GONE
    assert (await error(respond))["code"] == -32600


async def test_everything_else_is_left_as_it_is() -> None:
    responses = [
        httpx2.Response(200, json={"jsonrpc": "2.0", "id": 1, "result": {}}),
        httpx2.Response(202),
        httpx2.Response(307, headers={"location": "/other"}),
        httpx2.Response(400, json={"jsonrpc": "2.0", "id": 1, "error": {"code": -32022, "message": "old"}}),
    ]
    for response in responses:
        assert (await answer(lambda _: response)).content == response.content  # noqa: B023  # called at once
