"""Streamable HTTP to an upstream server.

The SDK's transport ends with the first request that fails below HTTP, and takes every other request with it. Here a
failed request becomes an answer to that request alone, whose code says what became of it.
"""

import json
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp.client._transport import TransportStreams
from mcp.client.streamable_http import streamable_http_client
from mcp.types import JSONRPCError
from pydantic import ValidationError

from wf_mcp.sources.upstream.faults import BROKEN, NOT_SENT, REFUSED, SESSION_GONE, UnsendableHeader

CONNECT_SECONDS = 30.0
"""For one TCP and TLS connection. Answers may take as long as they do."""

_BEFORE_SENDING = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.UnsupportedProtocol)
_NOT_FOUND, _BAD_GATEWAY = 404, 502
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"|[!-~]|[!-~][\t -~]*[!-~]")
_UNKNOWN_EFFECT = 500
"""HTTP statuses from here on leave open whether the request had an effect."""


@asynccontextmanager
async def http_transport(url: str, headers: Mapping[str, str]) -> AsyncGenerator[TransportStreams, None]:
    """Speak Streamable HTTP with `url`, sending `headers` with every request.

    Raises:
        UnsendableHeader: one of them can stand in no request.
    """
    for name, value in headers.items():
        if not (_HEADER_NAME.fullmatch(name) and _HEADER_VALUE.fullmatch(value)):
            raise UnsendableHeader(name)
    timeout = httpx2.Timeout(CONNECT_SECONDS, read=None)
    async with (
        JsonRpcClient(headers=dict(headers), timeout=timeout) as client,
        streamable_http_client(url, http_client=client) as streams,
    ):
        yield streams


class JsonRpcClient(httpx2.AsyncClient):
    """Answers a request that failed below JSON-RPC with a JSON-RPC error."""

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        if request.method != "POST":
            return await super().send(request, **options)
        try:
            response = await super().send(request, **options)
            if not response.is_success and not response.has_redirect_location:
                return await _explained(request, response)
            if "json" in response.headers.get("content-type", ""):
                await response.aread()
        except _BEFORE_SENDING:
            return _answer(request, NOT_SENT, f"nothing answers at {_authority(request.url)}")
        except httpx2.TransportError:
            return _answer(request, BROKEN, "the connection broke")
        return response


async def _explained(request: httpx2.Request, response: httpx2.Response) -> httpx2.Response:
    """Give an error status as a JSON-RPC error, the server's own where it sent one."""
    await response.aread()
    if response.status_code == _NOT_FOUND and "mcp-session-id" in request.headers:
        return _answer(request, SESSION_GONE, "the server no longer knows the session")
    try:
        JSONRPCError.model_validate_json(response.content)
    except ValidationError:
        code = BROKEN if response.status_code >= _UNKNOWN_EFFECT else REFUSED
        reason = f"HTTP {response.status_code} {response.reason_phrase}".strip()
        return _answer(request, code, f"{_authority(request.url)} answered {reason}")
    return response


def _answer(request: httpx2.Request, code: int, message: str) -> httpx2.Response:
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message}}
    return httpx2.Response(
        _BAD_GATEWAY,
        headers={"content-type": "application/json"},
        content=json.dumps(error),
        request=request,
    )


def _authority(url: httpx2.URL) -> str:
    """Name a server without what may be secret: no user, path or query."""
    return url.netloc.decode("ascii")
