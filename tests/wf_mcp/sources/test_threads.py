"""Running blocking work beside the event loop."""

import asyncio
import subprocess
import sys
import threading
from contextvars import ContextVar

import anyio
import pytest

from wf_mcp.sources.threads import CancelledByItself, ThreadedWork

pytestmark = pytest.mark.anyio

NAME = ContextVar("NAME", default="none")


async def test_everyone_who_waits_gets_the_result() -> None:
    release = threading.Event()
    work = ThreadedWork(lambda: release.wait(5), name="work")
    results: list[bool] = []

    async def wait() -> None:
        results.append(await work.result())

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            tasks.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            release.set()
    assert results == [True, True]


@pytest.mark.parametrize("raised", [ValueError, SystemExit])
async def test_what_it_raises_is_raised_to_everyone_who_waits(raised: type[BaseException]) -> None:
    def fail() -> None:
        raise raised("x")

    work = ThreadedWork(fail, name="work")
    for _ in range(2):
        with pytest.raises(raised, match="x"):
            await work.result()


async def test_a_cancellation_of_its_own_making_does_not_cancel_who_waits() -> None:
    def cancel() -> None:
        raise asyncio.CancelledError

    with pytest.raises(CancelledByItself):
        await ThreadedWork(cancel, name="work").result()


async def test_it_sees_the_context_of_the_caller() -> None:
    NAME.set("Ada")
    assert await ThreadedWork(NAME.get, name="work").result() == "Ada"


async def test_giving_up_the_wait_does_not_wait() -> None:
    release = threading.Event()
    work = ThreadedWork(lambda: release.wait(5), name="work")
    with anyio.fail_after(4), anyio.move_on_after(0) as impatient:
        await work.result()
    release.set()
    assert impatient.cancelled_caught
    assert await work.result()


def test_work_that_hangs_does_not_keep_the_process_from_ending() -> None:
    script = """
import threading, anyio
from wf_mcp.sources.threads import ThreadedWork
async def main():
    with anyio.move_on_after(0):
        await ThreadedWork(threading.Event().wait, name="hangs").result()
anyio.run(main)
"""
    subprocess.run([sys.executable, "-c", script], timeout=30, check=True)
