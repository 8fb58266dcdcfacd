"""One local command, from its start until nothing of it is left.

Between us and the command stands a small program of its own, `supervise`: it ends the command's whole family also when
this process is killed. What the command answered is read elsewhere.
"""

import logging
import os
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import anyio
from anyio.abc import Process

from wf_mcp.isolation.bounded import Log, Overflow, exchange
from wf_mcp.isolation.errors import timed_out, too_large, unavailable

_SUPERVISE = Path(__file__).with_name("supervise.py")
_ENDING_SECONDS: Final = 35.0
"""Longer than `supervise` gives itself for everything that it does at the end."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Command:
    """What is to be run, and how."""

    words: Sequence[str]
    env: Mapping[str, str]
    """All of its environment."""
    cwd: Path
    limits: Mapping[str, int] = field(default_factory=dict[str, int])
    """By the names of `supervise`: `as`, `cpu`, `nproc`, `fsize`."""
    afterwards: Sequence[str] = ()
    """A command that is run when this one has ended, whatever ended it."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended by itself, and what it wrote."""

    stdout: bytes
    exit_status: int | None
    """None when a signal ended it."""
    signal: int | None
    errno: int | None = None
    """Why it could not even be started."""


async def run(command: Command, request: bytes, log: Log, *, max_bytes: int, timeout_seconds: float) -> Ended:
    """Run a command with `request` on its stdin. Afterwards, cancelled too, none of its processes is left.

    Raises:
        IsolationError: it could not be started at all, took too long, or wrote more than `max_bytes` to stdout.
    """
    ended: Ended | None = None
    with anyio.move_on_after(timeout_seconds):
        try:
            ended = await _run(command, request, log, max_bytes)
        except Overflow:
            raise too_large(max_bytes) from None
    if ended is None:
        raise timed_out(timeout_seconds)
    return ended


async def _run(command: Command, request: bytes, log: Log, max_bytes: int) -> Ended:
    with _pipe() as (lifeline, held), _pipe() as (report, told):
        limits = ",".join(f"{name}={value}" for name, value in command.limits.items())
        passed = lifeline.number, told.number
        words = [*map(str, passed), limits, str(len(command.afterwards)), *command.afterwards, *command.words]
        process = await _open(command, [sys.executable, "-I", "-S", str(_SUPERVISE), *words], passed)
        try:
            lifeline.close()
            told.close()
            answer = await exchange(process, request, log, max_bytes=max_bytes)
            await process.wait()
        finally:
            held.close()
            with anyio.CancelScope(shield=True):
                with anyio.move_on_after(_ENDING_SECONDS) as patience:
                    await process.wait()
                if patience.cancelled_caught:
                    logger.error("What runs an isolated call does not end; it is killed, and may leave processes")
                await process.aclose()
        return _read_report(os.read(report.number, 256).decode(), answer)


async def _open(command: Command, words: Sequence[str], passed: Sequence[int]) -> Process:
    process: Process | None = None
    try:
        # Not to be interrupted: between its start and the first look at it a process would be nobody's.
        with anyio.CancelScope(shield=True):
            process = await anyio.open_process(
                words, cwd=command.cwd, env=command.env, start_new_session=True, pass_fds=passed
            )
    except (OSError, ValueError) as exc:
        reason = exc.strerror if isinstance(exc, OSError) else str(exc)
        raise unavailable(
            f"The isolated worker could not be started: {reason}.",
            "Look at command, cwd and env of the agent's runner.",
        ) from exc
    assert process is not None  # noqa: S101  # a shielded scope swallows nothing
    return process


def _read_report(report: str, answer: bytes) -> Ended:
    match report.split():
        case ["failed", errno]:
            return Ended(answer, None, None, int(errno))
        case ["exit", status]:
            return Ended(answer, int(status), None)
        case ["signal", number]:
            return Ended(answer, None, int(number))
        case _:  # somebody killed what stands between, and the worker with it
            return Ended(answer, None, 9)


class _End:
    """One end of a pipe, closed once."""

    def __init__(self, number: int) -> None:
        self.number = number
        self._is_open = True

    def close(self) -> None:
        if self._is_open:
            self._is_open = False
            with suppress(OSError):
                os.close(self.number)


@contextmanager
def _pipe() -> Generator[tuple[_End, _End]]:
    reading, writing = map(_End, os.pipe())
    try:
        yield reading, writing
    finally:
        reading.close()
        writing.close()
