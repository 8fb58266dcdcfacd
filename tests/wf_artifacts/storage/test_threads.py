"""Work that blocks is done in threads, and finished once it began."""

import threading

import anyio
import pytest
from anyio import CapacityLimiter

from wf_artifacts.storage.threads import AT_ONCE_BYTES, AT_ONCE_SECONDS, Pace, finished, in_thread

pytestmark = pytest.mark.anyio


class Store:
    def __init__(self) -> None:
        self.threads = CapacityLimiter(2)
        self.begun = threading.Event()
        self.finish = threading.Event()
        self.done = False

    @in_thread
    def work(self, answer: str) -> tuple[str, str]:
        """Answer."""
        return answer, threading.current_thread().name

    @in_thread
    def slow(self) -> None:
        self.begun.set()
        self.finish.wait(timeout=5)
        self.done = True


async def test_work_is_done_in_a_thread_and_answers() -> None:
    answer, thread = await Store().work("x")
    assert answer == "x"
    assert thread != threading.current_thread().name
    assert Store.work.__doc__ == "Answer."


async def test_work_that_began_is_finished_though_the_caller_is_cancelled() -> None:
    store = Store()
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(store.slow)
            await anyio.to_thread.run_sync(store.begun.wait)
            tasks.cancel_scope.cancel()
            store.finish.set()
    assert store.done


async def test_work_that_did_not_begin_is_not_done_for_a_cancelled_caller() -> None:
    store = Store()
    with anyio.CancelScope() as scope:
        scope.cancel()
        await store.slow()
    assert not store.begun.is_set()


async def test_work_that_has_to_be_finished_is_done_for_a_cancelled_caller_too() -> None:
    store = Store()
    answers: list[str] = []
    with anyio.CancelScope() as scope:
        scope.cancel()
        answers += await finished(store.work("x"))
    assert answers[0] == "x"


def test_little_is_written_at_once_where_the_last_write_was_fast() -> None:
    pace = Pace()
    assert not pace.allows(1)
    pace.seconds = AT_ONCE_SECONDS
    assert pace.allows(AT_ONCE_BYTES)
    assert not pace.allows(AT_ONCE_BYTES + 1)
    pace.seconds *= 2
    assert not pace.allows(1)
