"""Reading what a process writes: both streams at once, while it is still being written to, and never too much.

A process that fills one pipe while its reader waits at another stands still for ever; so nobody waits here.
"""

import logging
from collections.abc import Awaitable, Callable
from typing import Final, Protocol

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream

from wf_mcp.config import Redactor

LONGEST_LINE: Final = 2000
"""Bytes of a line of a log that are shown."""

LONGEST_LOG: Final = 256 * 1024
"""Bytes of a log that are shown. The rest is read, so that its writer can go on, and dropped."""

_PIECE = 64 * 1024

logger = logging.getLogger(__name__)


class Streams(Protocol):
    """What is needed of a process; `anyio.abc.Process` has it."""

    @property
    def stdin(self) -> ByteSendStream | None: ...
    @property
    def stdout(self) -> ByteReceiveStream | None: ...
    @property
    def stderr(self) -> ByteReceiveStream | None: ...


class Overflow(Exception):
    """More was written to stdout than is taken; the rest was not read."""


class Log:
    """What a worker writes to stderr: into our log at debug, line by line and without secrets, up to a bound."""

    def __init__(self, name: str, redactor: Redactor) -> None:
        self.last_line = ""
        """Of those that hold anything, without secrets."""
        self._name = name
        self._redactor = redactor
        self._open = bytearray()
        """The line that has not ended yet, as far as it is shown."""
        self._is_cut = False
        self._shown_bytes = 0

    def feed(self, data: bytes) -> None:
        """Take what was read, which may end anywhere."""
        first, *rest = data.split(b"\n")
        self._extend(first)
        for line in rest:
            self._end()
            self._extend(line)

    def close(self) -> None:
        """Show what did not end with a line break."""
        self._end()

    def _extend(self, part: bytes) -> None:
        room = LONGEST_LINE - len(self._open)
        self._is_cut = self._is_cut or len(part) > room
        self._open += part[:room]

    def _end(self) -> None:
        text = self._redactor.text(self._open.decode("utf-8", "replace").strip())
        if self._is_cut:
            # The cut may go through a secret, of which a part would not be known as one.
            text = f"{text[: -self._redactor.longest or None]}…"
        self._open.clear()
        self._is_cut = False
        if not text:
            return
        self.last_line = text
        if self._shown_bytes <= LONGEST_LOG:
            self._shown_bytes += len(text)
            logger.debug("%s: %s", self._name, text)


async def exchange(process: Streams, request: bytes, log: Log, *, max_bytes: int) -> bytes:
    """Write `request` to a process, and read what it answers until it has closed both of its streams.

    Raises:
        Overflow: the answer has more than `max_bytes` bytes.
    """
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None  # noqa: S101, PT018
    answer = bytearray()
    overflowed = False

    async def take(data: bytes) -> None:
        nonlocal overflowed
        answer.extend(data[: max_bytes + 1 - len(answer)])
        if len(answer) > max_bytes:
            overflowed = True
            tasks.cancel_scope.cancel()
            await anyio.lowlevel.checkpoint()

    async def note(data: bytes) -> None:
        log.feed(data)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_write, process.stdin, request)
        tasks.start_soon(_read, process.stdout, take)
        tasks.start_soon(_read, process.stderr, note)
    log.close()
    if overflowed:
        raise Overflow
    return bytes(answer)


async def _write(stream: ByteSendStream, data: bytes) -> None:
    """Write everything, then close. A process that does not listen to the end may still answer."""
    try:
        for start in range(0, len(data), _PIECE):
            await stream.send(data[start : start + _PIECE])
        await stream.aclose()
    except (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        return


async def _read(stream: ByteReceiveStream, take: Callable[[bytes], Awaitable[None]]) -> None:
    try:
        while True:
            await take(await stream.receive(_PIECE))
    except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
        return
