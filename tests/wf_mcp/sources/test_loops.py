"""Running coroutines beside the server's event loop."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from contextvars import ContextVar

import anyio
import pytest

from wf_mcp.sources.loops import LoopThread
from wf_mcp.sources.threads import CancelledByItself

pytestmark = pytest.mark.anyio

NAME = ContextVar("NAME", default="none")


@pytest.fixture
async def coroutines() -> AsyncIterator[LoopThread]:
    coroutines = LoopThread("coroutines")
    yield coroutines
    with anyio.fail_after(5):
        await coroutines.close()


async def answer() -> int:
    return 42


async def test_coroutines_share_one_loop_that_is_not_the_callers(coroutines: LoopThread) -> None:
    async def loop() -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()

    first = await coroutines.run(loop)

    assert first is await coroutines.run(loop)
    assert first is not asyncio.get_running_loop()


async def test_a_coroutine_sees_the_context_of_the_caller(coroutines: LoopThread) -> None:
    async def name() -> str:
        return NAME.get()

    for given in ("Ada", "Grace"):
        NAME.set(given)
        assert await coroutines.run(name) == given


@pytest.mark.parametrize("raised", [ValueError, SystemExit, KeyboardInterrupt, GeneratorExit])
async def test_what_a_coroutine_raises_is_raised_and_the_loop_goes_on(
    raised: type[BaseException], coroutines: LoopThread
) -> None:
    async def fail() -> None:
        raise raised("x")

    with pytest.raises(raised, match="x"):
        await coroutines.run(fail)
    assert await coroutines.run(answer) == 42


async def test_a_coroutine_that_cancels_its_own_task_does_not_cancel_the_caller(coroutines: LoopThread) -> None:
    async def cancel_everything() -> None:
        for task in asyncio.all_tasks():
            task.cancel()
        await asyncio.sleep(0)

    with pytest.raises(CancelledByItself):
        await coroutines.run(cancel_everything)
    assert await coroutines.run(answer) == 42


async def test_neither_a_stopped_loop_nor_an_exit_in_a_callback_ends_the_loop(coroutines: LoopThread) -> None:
    async def stop() -> None:
        asyncio.get_running_loop().stop()
        await asyncio.sleep(0)

    async def leave() -> None:
        asyncio.get_running_loop().call_soon(sys.exit)
        await asyncio.sleep(0)

    with anyio.fail_after(5):
        await coroutines.run(stop)
        await coroutines.run(leave)
        assert await coroutines.run(answer) == 42


async def test_a_coroutine_that_blocks_leaves_the_callers_loop_alone(coroutines: LoopThread) -> None:
    release = threading.Event()

    async def block() -> bool:
        return release.wait(5)

    results: list[bool] = []

    async def call() -> None:
        results.append(await coroutines.run(block))

    with anyio.fail_after(4):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call)
            await anyio.wait_all_tasks_blocked()
            release.set()
    assert results == [True]


async def test_closing_cancels_what_still_runs_and_is_heard_by_it(coroutines: LoopThread) -> None:
    begun, ended = threading.Event(), threading.Event()

    async def wait() -> None:
        begun.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    async with anyio.create_task_group() as tasks:

        async def call() -> None:
            with pytest.raises(CancelledByItself):
                await coroutines.run(wait)

        tasks.start_soon(call)
        while not begun.is_set():
            await anyio.lowlevel.checkpoint()
        await coroutines.close()
    assert ended.is_set()


async def test_closing_what_never_ran_is_nothing(coroutines: LoopThread) -> None:
    await coroutines.close()


def test_a_coroutine_that_never_ends_does_not_keep_the_process_from_ending() -> None:
    script = """
import threading, anyio
from wf_mcp.sources import loops
loops.CLOSE_SECONDS = 0
async def hang():
    threading.Event().wait()
async def main():
    coroutines = loops.LoopThread("coroutines")
    with anyio.move_on_after(0.01):
        await coroutines.run(hang)
    await coroutines.close()
anyio.run(main)
"""
    subprocess.run([sys.executable, "-c", script], timeout=30, check=True)
