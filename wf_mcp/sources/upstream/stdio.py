"""A process of an upstream server, spoken to over stdio.

What it writes to stderr goes to our log without secrets. That its process ended is noticed at once, and so is an answer
that cannot be read: its request fails, or all of them where it does not say which. A little of what is no MCP on its
stdout is overlooked.
"""

import logging
import os
import re
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TextIO

import anyio
from anyio import to_thread
from mcp import StdioServerParameters
from mcp.client._transport import TransportStreams
from mcp.client.stdio import stdio_client
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from wf_mcp.config import McpServer, Redactor
from wf_mcp.sources.threads import ThreadedWork
from wf_mcp.sources.upstream.unreadable import as_answer

MOST_NOISE = 1000
"""Lines on stdout that are no MCP, before the server is given up."""

_LONGEST_LINE = 8192
"""Of stderr, in characters. The rest of a longer line is not shown."""
_OBJECT = re.compile(r'\s*\{\s*"')
"""How a line begins that was meant as JSON, and not as words."""
_LAST_WORDS_SECONDS = 0.5
"""How long the end of stderr is waited for; a child of the server may hold it open."""

logger = logging.getLogger(__name__)


class Process:
    """What is seen of a server's process from outside the protocol."""

    def __init__(self, name: str, redactor: Redactor) -> None:
        self.name = name
        self.over = anyio.Event()
        """Set when the process has closed its stdout: it ended, or as good as."""
        self.noise = 0
        """Lines on its stdout that are no MCP."""
        self.fault: str | None = None
        """Why it was given up, as the end of a sentence that begins with the server."""
        self._redactor = redactor
        self._lines: deque[str] = deque(maxlen=1)
        self._reading: ThreadedWork[None] | None = None

    def overlook(self, error: Exception) -> bool:
        """Tell whether a line on its stdout that is no MCP can be overlooked: it is not what somebody waits for."""
        self.noise += 1
        if _is_message(error):
            self.fault = "it answered what cannot be read"
        elif self.noise > MOST_NOISE:
            self.fault = "it writes to stdout what is no MCP, without end"
        if self.fault is not None:
            logger.warning("The connection to %s is ended: %s", self.name, self.fault)
        return self.fault is None

    def open_stderr(self) -> TextIO:
        """Give a file for the process to use as its stderr; the caller closes it once the process has it."""
        reading_end, writing_end = os.pipe()
        self._reading = ThreadedWork(lambda: self._read(reading_end), name=f"stderr of {self.name}")
        return open(writing_end, "w", encoding="utf-8")  # noqa: PTH123  # a pipe has no path

    async def last_words(self) -> str | None:
        """Give the last line that the process wrote to stderr."""
        if self._reading is not None:
            with anyio.move_on_after(_LAST_WORDS_SECONDS):
                await self._reading.result()
        return self._lines[-1] if self._lines else None

    def _read(self, reading_end: int) -> None:
        with open(reading_end, encoding="utf-8", errors="replace") as stderr:  # a pipe has no path
            is_begin = True
            while piece := stderr.readline(_LONGEST_LINE):
                is_end = piece.endswith("\n")
                if is_begin and (text := self._shown(piece, is_whole=is_end or len(piece) < _LONGEST_LINE)):
                    self._lines.append(text)
                    logger.info("%s: %s", self.name, text)
                is_begin = is_end

    def _shown(self, line: str, *, is_whole: bool) -> str:
        text = self._redactor.text(line.strip())
        # The cut may go through a secret, of which a part would not be known as one.
        return text if is_whole else f"{text[: -self._redactor.longest or None]}…"


@asynccontextmanager
async def stdio_transport(server: McpServer, folder: Path, process: Process) -> AsyncGenerator[TransportStreams, None]:
    """Start the server's command, below `folder`, and speak with it. Of our environment it sees only the harmless."""
    assert server.command is not None  # noqa: S101
    parameters = StdioServerParameters(
        command=server.command, args=server.args, env=server.env, cwd=folder / (server.cwd or ".")
    )
    # What is no UTF-8 is then a line that cannot be read; by itself the SDK would wait for the process to end.
    parameters = parameters.model_copy(update={"encoding_error_handler": "surrogateescape"})
    with process.open_stderr() as stderr:
        async with stdio_client(parameters, stderr) as (reading, writing), anyio.create_task_group() as tasks:
            stderr.close()
            sending, receiving = anyio.create_memory_object_stream[SessionMessage | Exception]()

            async def watch() -> None:
                try:
                    async with sending:
                        async for message in reading:
                            if not isinstance(message, Exception):
                                await sending.send(message)
                            elif (answer := await _unread(message)) is not None:
                                await sending.send(answer)
                            elif not process.overlook(message):
                                break
                except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                    pass  # we are the ones who ended it
                finally:
                    process.over.set()

            tasks.start_soon(watch)
            try:
                async with receiving:
                    yield receiving, writing
            finally:
                tasks.cancel_scope.cancel()


async def _unread(error: Exception) -> SessionMessage | None:
    """Give what a line that is no MCP means to the one request that it answers, if it says which."""
    if not isinstance(error, ValidationError) or not _is_message(error):
        return None
    return await to_thread.run_sync(as_answer, error)  # it may be long


def _is_message(error: Exception) -> bool:
    """Tell whether a line that is no MCP was meant as a message, from the error of reading it."""
    if not isinstance(error, ValidationError):
        return False
    line: object = error.errors(include_url=False, include_context=False)[0]["input"]
    if isinstance(line, dict):
        return "jsonrpc" in line or "id" in line
    return isinstance(line, str) and _OBJECT.match(line) is not None


def _is_no_noise(record: logging.LogRecord) -> bool:
    return record.funcName != "_parse_line"


# The SDK logs a traceback for every line that is no MCP, however many there are.
logging.getLogger("mcp.client.stdio").addFilter(_is_no_noise)
