"""What a client posts over HTTP: read whole within a bound, and refused in the protocol's words where it is no message.

The SDK's own bound is lower than what arguments may be, and its refusals are not JSON-RPC, or name its own types.
"""

from typing import Any, Final, TypeAlias

from mcp.types import INVALID_REQUEST, ErrorData, JSONRPCError
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from wf_mcp.errors import TooLarge, describe
from wf_mcp.server.messages import fault

_ESCAPED: Final = 3
"""How much longer a character may be than in UTF-8: `\\u00e9` has six bytes instead of two."""

_ENVELOPE: Final = 1_000_000
"""Bytes for everything in a request but its one long value."""

_Answer: TypeAlias = tuple[int, JSONRPCError]


def longest_body(max_bytes: int) -> int:
    """Say how many bytes a request may have that holds a value of `max_bytes`, however that is written."""
    return _ESCAPED * max_bytes + _ENVELOPE


class CheckedBodies:
    """Passes on the messages that are posted to an application, and answers everything else that is posted."""

    def __init__(self, app: ASGIApp, *, max_bytes: int) -> None:
        self._app = app
        self._max_bytes = max_bytes
        self._longest = longest_body(max_bytes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        body, size = bytearray(), 0
        more = True
        while more:
            message = await receive()
            if message["type"] != "http.request":
                return  # the client is gone
            part: bytes = message.get("body", b"")
            size += len(part)
            # What is too long is read to its end as well: a client that still writes may not read the answer.
            if size <= self._longest:
                body += part
            more = message.get("more_body", False)
        refused = self._refusal(bytes(body), size)
        if refused is not None:
            await _respond(refused, scope, receive, send)
            return
        await self._app(scope, _replayed(bytes(body), receive), send)

    def _refusal(self, body: bytes, size: int) -> _Answer | None:
        if size > self._longest:
            return 413, self._too_long(size)
        found = fault(body)
        return None if found is None else (400, found)

    def _too_long(self, size: int) -> JSONRPCError:
        error = TooLarge("The request", size=size, limit=self._longest)
        error.message = (
            f"The request has {size} bytes; at most {self._longest} are taken, for a value has at most "
            f"{self._max_bytes} as compact JSON."
        )
        shown: Any = describe(error)
        return JSONRPCError(
            jsonrpc="2.0",
            id=None,
            error=ErrorData(code=INVALID_REQUEST, message=f"{error.message} {error.hint}", data={"error": shown}),
        )


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Give the body that was read, then whatever comes after it."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay


async def _respond(answer: _Answer, scope: Scope, receive: Receive, send: Send) -> None:
    status, error = answer
    text = error.model_dump_json(by_alias=True, exclude_unset=True)
    await Response(text, status, media_type="application/json")(scope, receive, send)
