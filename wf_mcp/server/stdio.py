"""MCP on stdin and stdout, where the SDK's transport alone would leave a client waiting.

A line that is no message is answered with the protocol's own error; the SDK drops it. Lines are read in a thread that
nobody waits for; where the SDK reads, the process could not end before the client sends one more.
"""

import os
import re
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import anyio
from anyio import from_thread
from anyio.lowlevel import current_token
from mcp.server.stdio import stdio_server
from mcp.shared._context_streams import ContextReceiveStream, ContextSendStream, create_context_streams
from mcp.shared.message import SessionMessage
from mcp.types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError, RequestId
from pydantic import ValidationError

from wf_mcp.sources.threads import ThreadedWork

_Incoming = SessionMessage | Exception
_Streams = tuple[ContextReceiveStream[_Incoming], ContextSendStream[SessionMessage]]

_TOKEN: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{},:]|[^\s\[\]{}",:]++', re.DOTALL)
"""A piece of JSON text, also of one that does not end. It never goes back, so a long line costs its length."""


@asynccontextmanager
async def stdio_transport() -> AsyncGenerator[
    tuple[ContextReceiveStream[_Incoming], ContextSendStream[SessionMessage]]
]:
    """Give the messages of the client on stdin, and what sends some to it on stdout.

    Whatever else is printed meanwhile goes to stderr, and whoever else reads stdin finds its end.
    """
    lines: Any = _lines(_take_stdin())
    async with (
        stdio_server(stdin=lines) as (incoming, outgoing),
        anyio.create_task_group() as tasks,
    ):
        sending, receiving = create_context_streams[_Incoming](0)

        async def forward() -> None:
            async with sending:
                async for message in incoming:
                    if isinstance(message, Exception):
                        await outgoing.send(SessionMessage(refusal(message)))
                    else:
                        await sending.send(message)

        tasks.start_soon(forward)
        yield receiving, outgoing
        tasks.cancel_scope.cancel()


def refusal(fault: Exception) -> JSONRPCError:
    """Answer a line that is no message, under the id of the request that it seems to be."""
    line, code, message = "", PARSE_ERROR, "This is no JSON that can be read."
    if isinstance(fault, ValidationError):
        problem = fault.errors(include_url=False)[0]
        if problem["type"] == "json_invalid":
            given: Any = problem["input"]
            line = given.decode(errors="replace") if isinstance(given, bytes) else str(given)
            message = f"{message[:-1]}: {problem.get('ctx', {}).get('error', problem['msg'])}."
        else:
            code, message = INVALID_REQUEST, "This is no JSON-RPC message."
    return JSONRPCError(jsonrpc="2.0", id=_request_id(line), error=ErrorData(code=code, message=message))


def _take_stdin() -> int:
    """Take stdin for ourselves, and let user code and child processes find its end there."""
    taken, nothing = os.dup(0), os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return taken


async def _lines(descriptor: int) -> AsyncIterator[bytes]:
    """Give the lines of a file that hold something, as bytes: what is no UTF-8 is for the reader of JSON to refuse."""
    sending, receiving = anyio.create_memory_object_stream[bytes]()
    token = current_token()

    def read() -> None:
        with open(descriptor, "rb", closefd=False) as file:  # it has no path
            for line in filter(bytes.strip, file):
                from_thread.run(sending.send, line, token=token)
        from_thread.run_sync(sending.close, token=token)

    ThreadedWork(read, name="stdin")
    async with receiving:
        async for line in receiving:
            yield line


def _request_id(line: str) -> RequestId | None:
    """Find the id of a request in text that may be anything. None when there is none to be read."""
    members = dict(_members(line))
    found = members.get('"id"', "")
    if '"method"' not in members:
        return None
    if found.startswith('"'):
        return found[1:-1] if "\\" not in found else None
    return int(found) if re.fullmatch(r"-?\d{1,18}", found) else None


def _members(line: str) -> list[tuple[str, str]]:
    """Give the members of the outermost object, as far as keys and values are single pieces."""
    depth = 0
    found: list[tuple[str, str]] = []
    before: tuple[str, str] = ("", "")
    for piece in (match[0] for match in _TOKEN.finditer(line)):
        if depth == 1 and before[1] == ":":
            found.append((before[0], piece))
        depth += (piece in "[{") - (piece in "]}")
        before = (before[1], piece)
    return found
