"""One local command, from its start until nothing of it is left."""

import os
import signal
from pathlib import Path

import anyio
import pytest

from wf_mcp.config import Redactor
from wf_mcp.isolation import IsolationError
from wf_mcp.isolation.bounded import Log
from wf_mcp.isolation.supervised import Command, Ended, run

pytestmark = pytest.mark.anyio


async def sh(script: str, cwd: Path, request: bytes = b"", *, afterwards: str = "", seconds: float = 40) -> Ended:
    command = Command(
        ["sh", "-c", script],
        env={"PATH": os.environ["PATH"]},
        cwd=cwd,
        afterwards=["sh", "-c", afterwards] if afterwards else (),
    )
    return await run(command, request, Log("sh", Redactor()), max_bytes=1000, timeout_seconds=seconds)


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def test_what_it_answers_and_how_it_ended(tmp_path: Path) -> None:
    assert await sh("cat; exit 3", tmp_path, b"hello") == Ended(b"hello", 3, None)
    assert await sh("kill -9 $$", tmp_path) == Ended(b"", None, signal.SIGKILL)


async def test_what_comes_afterwards_comes_after_a_time_limit_too(tmp_path: Path) -> None:
    with pytest.raises(IsolationError):
        await sh("sleep 600", tmp_path, afterwards="echo ended >ended", seconds=0.3)
    assert (tmp_path / "ended").read_text() == "ended\n"


async def test_many_at_once_do_not_keep_each_other(tmp_path: Path) -> None:
    """No process holds an end of another's pipes: each ends by itself."""
    async with anyio.create_task_group() as tasks:
        for number in range(6):
            tasks.start_soon(sh, f"sleep 0.{number}; echo {number} >{number}", tmp_path)
    assert names_in(tmp_path) == list("012345")


async def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    await sh("true", tmp_path)
    before = len(names_in(Path("/proc/self/fd")))
    await sh("true", tmp_path)
    with pytest.raises(IsolationError):
        await sh("yes", tmp_path)
    with pytest.raises(IsolationError):
        await sh("true", tmp_path / "missing")
    assert len(names_in(Path("/proc/self/fd"))) == before
