"""Running coroutines beside the server's event loop, on one of their own, which nothing in them can stop.

A coroutine that blocks holds up its neighbours on that loop and nobody else; one that cancels its own task, or raises
`SystemExit`, has failed and no more.
"""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import anyio

from wf_mcp.sources.threads import CancelledByItself, ThreadedWork

CLOSE_SECONDS = 2.0
"""How long coroutines may take to end when the loop is closed; what blocks is left behind."""

T = TypeVar("T")


class LoopThread:
    """An event loop in a thread that never keeps the process from ending. It begins with the first coroutine."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closing: asyncio.Future[None]
        self._thread: ThreadedWork[None]

    async def run(self, function: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run what `function` gives, with the caller's context variables, and give or raise what comes of it.

        Cancelling the caller cancels the coroutine, without waiting for what it does then.

        Raises:
            CancelledByItself: it was cancelled, and not by the caller.
        """
        call = _Call(self._running(), function)
        try:
            ended = await asyncio.wrap_future(call.done)
        finally:
            call.cancel()
        if ended.error is not None:
            raise ended.error
        return ended.value  # pyright: ignore[reportReturnType]  # no error, so it returned this

    async def close(self) -> None:
        """Cancel what still runs, and give it a moment to end. A coroutine that comes later begins a new loop."""
        loop, self._loop = self._loop, None
        if loop is None:
            return
        loop.call_soon_threadsafe(self._closing.set_result, None)
        with anyio.move_on_after(CLOSE_SECONDS):
            await self._thread.result()

    def _running(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = loop = asyncio.new_event_loop()
            self._closing = closing = loop.create_future()
            self._thread = ThreadedWork(lambda: _serve(loop, closing), name=self._name)
        return self._loop


@dataclass(frozen=True, slots=True)
class _Ended(Generic[T]):
    """What came of a coroutine. A task that raised `SystemExit` itself would end its loop."""

    value: T | None = None
    error: BaseException | None = None


class _Call(Generic[T]):
    """One coroutine on another thread's loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, function: Callable[[], Coroutine[Any, Any, T]]) -> None:
        self.done = Future[_Ended[T]]()
        self._loop = loop
        self._function = function
        self._task: asyncio.Task[_Ended[T]] | None = None
        loop.call_soon_threadsafe(self._begin)

    def cancel(self) -> None:
        """Cancel the coroutine, if it was still waited for."""
        if self.done.cancelled():
            with suppress(RuntimeError):  # the loop is closed, and has cancelled everything
                self._loop.call_soon_threadsafe(self._cancel)

    def _begin(self) -> None:
        self._task = self._loop.create_task(self._run())
        self._task.add_done_callback(self._end)

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def _run(self) -> _Ended[T]:
        try:
            return _Ended(await self._function())
        except asyncio.CancelledError:
            raise
        except BaseException as exc:  # noqa: BLE001  # whatever it is belongs to the one who waits
            return _Ended(error=exc)

    def _end(self, task: asyncio.Task[_Ended[T]]) -> None:
        if self.done.set_running_or_notify_cancel():
            self.done.set_result(_Ended(error=CancelledByItself()) if task.cancelled() else task.result())


def _serve(loop: asyncio.AbstractEventLoop, closing: asyncio.Future[None]) -> None:
    while not closing.done():
        # A callback may stop the loop, or raise what ends it: it goes on with the others.
        with suppress(BaseException):
            loop.run_until_complete(closing)
    with suppress(BaseException), asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.get_loop()  # leaving the runner cancels what is left, and closes the loop
