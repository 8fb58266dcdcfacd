"""Work that a request asks for and does not own: who asked may leave, the work goes on to its end."""

from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

import anyio
from anyio.abc import TaskGroup

from wf_core.errors import WfError

T = TypeVar("T")


class ShuttingDown(WfError):
    """The server ended in the middle of the work. What had been stored by then stays."""

    code = "store_unavailable"

    def __init__(self) -> None:
        super().__init__("The server is shutting down.", hint="Start it again, then look with inspect_run.")


class _Work(Generic[T]):
    def __init__(self, act: Callable[[], Awaitable[T]]) -> None:
        self._act = act
        self._ended = anyio.Event()
        self._results: list[T] = []
        self._error: Exception = ShuttingDown()

    async def run(self) -> None:
        try:
            self._results.append(await self._act())
        except Exception as error:  # noqa: BLE001  # raised again where it was asked for
            self._error = error
        finally:
            self._ended.set()

    async def result(self) -> T:
        await self._ended.wait()
        if self._results:
            return self._results[0]
        raise self._error


async def owned(tasks: TaskGroup, act: Callable[[], Awaitable[T]]) -> T:
    """Do `act` in a task of `tasks` and give its result, or raise what it raised.

    Cancelling the caller ends the waiting alone.
    """
    work = _Work(act)
    tasks.start_soon(work.run)
    return await work.result()
