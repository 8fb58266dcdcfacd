"""Isolated calls in a process of their own: a clean environment, a fresh folder, limits, and an end in any case.

It guards against accidents, not against malice: the process runs as the user that we run as.
"""

import os
import shutil
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from wf_core.calls.results import ToolResult
from wf_core.errors import NotJson
from wf_core.jsonvalue import loads
from wf_mcp.config.runners import Runner
from wf_mcp.isolation.answers import read_answer
from wf_mcp.isolation.bounded import Log
from wf_mcp.isolation.errors import unavailable
from wf_mcp.isolation.place import Place
from wf_mcp.isolation.supervised import Command, run

FOLDER_PREFIX = "wf-call-"


async def execute(
    settings: Runner, place: Place, request: bytes, token: str, *, capability: str, timeout_seconds: float
) -> ToolResult:
    """Carry one call out, as `DeploymentRunner.execute` promises."""
    words = _words(settings, place, request, capability)
    log = Log(Path(words[0]).name, place.redactor)
    async with _folder() as fresh:
        command = Command(
            words,
            env={**place.harmless(), "HOME": str(fresh), "TMPDIR": str(fresh), **settings.env},
            cwd=fresh if settings.cwd is None else place.folder / settings.cwd,
            limits=_limits(settings),
            # Should we be killed, nobody else takes it away.
            afterwards=["rm", "-rf", "--", str(fresh)],
        )
        ended = await run(command, request, log, max_bytes=settings.max_output_bytes, timeout_seconds=timeout_seconds)
    if ended.errno is not None:
        raise unavailable(
            f"The isolated worker {words[0]} cannot be started: {os.strerror(ended.errno)}.",
            "Name a program that is there and may be executed as command in the agent's runner; "
            "a relative path counts from the folder of the agent file.",
        )
    return read_answer(ended, token, log.last_line, place.redactor)


def _words(settings: Runner, place: Place, request: bytes, capability: str) -> list[str]:
    if settings.command:
        program, *arguments = settings.command
        # A path is one from the agent's folder; a plain name is looked for on PATH.
        return [str((place.folder / program).absolute()) if "/" in program else program, *arguments]
    name = capability or _tool_name(request)
    source, worker = name, None
    # The name of a source may hold dots, and so may that of a capability.
    while worker is None and "." in source:
        source = source.rpartition(".")[0]
        worker = place.python(source)
    if worker is None:
        raise unavailable(
            f"No command is named for a process, and {name or 'the call'} is no capability of a Python source.",
            "Write the worker as command in the agent's runner or the call's isolation spec, or name an image there.",
        )
    return worker.command(source, capability)


def _tool_name(request: bytes) -> str:
    try:
        match loads(request):
            case {"toolCall": {"name": str(name)}}:
                return name
            case _:
                return ""
    except NotJson:
        return ""


def _limits(settings: Runner) -> dict[str, int]:
    limits = {
        "as": settings.memory,
        "cpu": settings.cpu_seconds,
        "nproc": settings.pids,
        "fsize": settings.file_size,
    }
    return {name: limit for name, limit in limits.items() if limit is not None}


@asynccontextmanager
async def _folder() -> AsyncGenerator[Path]:
    """Give a fresh folder, and take it away with all that is in it."""
    folder = Path(tempfile.mkdtemp(prefix=FOLDER_PREFIX))
    try:
        yield folder
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(lambda: shutil.rmtree(folder, ignore_errors=True))
