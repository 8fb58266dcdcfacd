"""Running blocking work beside the event loop, in threads that never keep the process from ending.

The worker threads of anyio would: the interpreter waits for each of them, also for one that hangs in user code.
"""

import asyncio
import contextvars
from collections.abc import Callable
from threading import Thread
from types import TracebackType
from typing import Generic, TypeVar

import anyio
from anyio import from_thread
from anyio.lowlevel import current_token

T = TypeVar("T")


class CancelledByItself(Exception):
    """User code was cancelled, and not by us: passed on as it is, it would seem to be the caller who was."""

    def __init__(self) -> None:
        super().__init__("the code cancelled itself")


class ThreadedWork(Generic[T]):
    """Work that begins now, in a thread of its own. It goes on when nobody waits for it any more."""

    def __init__(self, work: Callable[[], T], *, name: str) -> None:
        self._work = work
        self._done = anyio.Event()
        self._token = current_token()
        self._value: T | None = None
        self._error: BaseException | None = None
        self._traceback: TracebackType | None = None
        context = contextvars.copy_context()
        Thread(target=context.run, args=(self._run,), name=name, daemon=True).start()

    async def result(self) -> T:
        """Wait for what the work returns or raises. Several tasks may wait; a cancelled one only waits no more."""
        await self._done.wait()
        if self._error is not None:
            # Without the frames of those who were told before.
            raise self._error.with_traceback(self._traceback)
        return self._value  # pyright: ignore[reportReturnType]  # no error, so the work returned it

    def _run(self) -> None:
        try:
            self._value = self._work()
        except asyncio.CancelledError:
            self._error = CancelledByItself()
        except BaseException as exc:  # noqa: BLE001  # whatever it is belongs to the one who waits
            self._error, self._traceback = exc, exc.__traceback__
        try:
            from_thread.run_sync(self._done.set, token=self._token)
        except anyio.RunFinishedError:
            return  # the program ended meanwhile
