"""MCP on stdin and stdout, where the SDK's transport alone would leave a client waiting.

A line that is no message is answered with the protocol's own error; the SDK drops it, or takes it for a notification
and answers nothing. Lines are read in a thread that
nobody waits for; where the SDK reads, the process could not end before the client sends one more.
"""

import os
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio import from_thread
from anyio.lowlevel import current_token
from mcp.server.stdio import stdio_server
from mcp.shared._context_streams import ContextReceiveStream, ContextSendStream, create_context_streams
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCNotification

from wf_mcp.server.messages import has_id, no_request, refusal
from wf_mcp.sources.threads import ThreadedWork

_Incoming = SessionMessage | Exception
_Streams = tuple[ContextReceiveStream[_Incoming], ContextSendStream[SessionMessage]]


@asynccontextmanager
async def stdio_transport() -> AsyncGenerator[
    tuple[ContextReceiveStream[_Incoming], ContextSendStream[SessionMessage]]
]:
    """Give the messages of the client on stdin, and what sends some to it on stdout.

    Whatever else is printed meanwhile goes to stderr, and whoever else reads stdin finds its end.
    """
    unread = deque[bytes]()
    lines: Any = _lines(_take_stdin(), unread)
    async with (
        stdio_server(stdin=lines) as (incoming, outgoing),
        anyio.create_task_group() as tasks,
    ):
        sending, receiving = create_context_streams[_Incoming](0)

        async def forward() -> None:
            async with sending:
                async for message in incoming:
                    line = unread.popleft()
                    if isinstance(message, Exception):
                        await outgoing.send(SessionMessage(refusal(message)))
                    elif isinstance(message.message, JSONRPCNotification) and has_id(line):
                        await outgoing.send(SessionMessage(no_request()))
                    else:
                        await sending.send(message)

        tasks.start_soon(forward)
        yield receiving, outgoing
        tasks.cancel_scope.cancel()


def _take_stdin() -> int:
    """Take stdin for ourselves, and let user code and child processes find its end there."""
    taken, nothing = os.dup(0), os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return taken


async def _lines(descriptor: int, unread: deque[bytes]) -> AsyncIterator[bytes]:
    """Give the lines of a file that hold something, as bytes: what is no UTF-8 is for the reader of JSON to refuse.

    Each is put at the end of `unread`, too: the SDK makes one message or error of it, and keeps nothing of the line.
    """
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
            unread.append(line)
            yield line
