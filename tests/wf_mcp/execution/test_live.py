"""Where the advancing task, the calls in flight and the waiters meet."""

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import cast

import anyio
import pytest

from wf_core.errors import StaleInterrupt, WfError
from wf_core.runtime import Answer
from wf_core.runtime.inputs import Resume
from wf_core.state import RunState
from wf_mcp.execution.journal import Journal
from wf_mcp.execution.live import AnswerGiven, CallEnded, CancelAsked, LiveRun
from wf_mcp.sources.protocol import CallResult

pytestmark = pytest.mark.anyio


def live_run() -> LiveRun:
    """A run whose claim, program and definitions nobody asks for."""
    return LiveRun(cast("Journal", SimpleNamespace(run=RunState("run_1"))))


def answer() -> Resume:
    return Resume(datetime(2026, 11, 30, tzinfo=UTC), Answer({}))


async def test_what_was_posted_is_taken_all_at_once_in_its_order() -> None:
    live = live_run()
    ended, asked = CallEnded("c1", CallResult("ok", 1)), CancelAsked("enough")
    live.post(ended)
    live.post(asked)
    assert await live.receive(seconds=None) == [ended, asked]
    assert await live.receive(seconds=0) == []


async def test_waiting_for_events_ends_with_the_time_or_the_first_event() -> None:
    live = live_run()
    assert await live.receive(seconds=0.001) == []
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_post_soon, live)
            assert await live.receive(seconds=None) == [CancelAsked(None)]


async def _post_soon(live: LiveRun) -> None:
    live.post(CancelAsked(None))


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


async def test_waiting_after_the_end_returns_at_once() -> None:
    live = live_run()
    live.end()
    with anyio.fail_after(5):
        await live.wait()


async def test_an_answer_is_taken_refused_or_passed_over() -> None:
    live, taken, refusal = live_run(), answer(), StaleInterrupt("It is not open.")
    heard: dict[str, object] = {}

    async def give(name: str, given: Resume) -> None:
        try:
            heard[name] = await live.answer(given)
        except WfError as error:
            heard[name] = error

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(give, "taken", taken)
            tasks.start_soon(give, "refused", answer())
            tasks.start_soon(give, "unread", answer())
            await anyio.wait_all_tasks_blocked()
            first, second, _ = (event for event in await live.receive(seconds=None) if isinstance(event, AnswerGiven))
            assert first.given is taken
            first.take()
            second.refuse(refusal)
            await anyio.wait_all_tasks_blocked()
            assert heard == {"taken": True, "refused": refusal}
            live.end()
    assert heard["unread"] is False


async def test_an_answer_after_the_end_is_passed_over() -> None:
    live = live_run()
    live.end()
    with anyio.fail_after(5):
        assert await live.answer(answer()) is False
