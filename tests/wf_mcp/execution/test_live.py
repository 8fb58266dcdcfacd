"""Where the advancing task, the calls in flight and the waiters meet."""

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import cast

import anyio
import pytest

from wf_core.runtime import Answer
from wf_core.runtime.inputs import Resume
from wf_core.state import RunState
from wf_mcp.execution.journal import Journal
from wf_mcp.execution.live import AnswerGiven, LiveRun

pytestmark = pytest.mark.anyio


def live_run() -> LiveRun:
    """A run whose claim, program and definitions nobody asks for."""
    return LiveRun(cast("Journal", SimpleNamespace(run=RunState("run_1"))))


async def test_followers_hear_of_advances_and_leave_when_the_run_is_put_down() -> None:
    live, told = live_run(), anyio.Event()
    heard: list[tuple[int, str]] = []

    async def listen(steps: int, message: str) -> None:
        heard.append((steps, message))
        told.set()

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(live.follow, listen)
            live.journal.run.steps_executed = 1
            live.report("read", "files.read")
            await told.wait()
            live.journal.run.steps_executed = 3
            live.report("write", "files.write")
            live.end()
    assert heard == [(1, "read: files.read"), (3, "write: files.write")]


async def test_a_slow_follower_misses_steps_and_still_hears_the_latest() -> None:
    live, heard = live_run(), list[int]()
    busy, free = anyio.Event(), anyio.Event()

    async def listen(steps: int, message: str) -> None:
        heard.append(steps)
        busy.set()
        await free.wait()

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(live.follow, listen)
            live.journal.run.steps_executed = 1
            live.report("one", "files.read")
            await busy.wait()
            for steps in range(2, 10):
                live.journal.run.steps_executed = steps
                live.report("more", "files.read")
            live.end()
            free.set()
    assert heard == [1, 9]


async def test_an_answer_reaches_the_advancing_task_and_is_heard_of() -> None:
    live = live_run()
    given, heard = Resume(datetime(2026, 11, 30, tzinfo=UTC), Answer({})), list[bool]()

    async def give() -> None:
        heard.append(await live.answer(given))

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(give)
            (event,) = await live.receive(seconds=None)
            assert isinstance(event, AnswerGiven)
            assert event.given is given
            event.take()
        live.end()
        await give()
    assert heard == [True, False]
