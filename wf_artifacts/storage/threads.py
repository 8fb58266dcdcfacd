"""Work that waits for a disk or a database runs in threads of its own.

So neither the event loop nor user code that fills the default threads waits for it, or makes it wait.
"""

from collections.abc import Awaitable, Callable
from functools import partial, wraps
from types import CoroutineType
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from anyio import CancelScope, CapacityLimiter, to_thread

P = ParamSpec("P")
T = TypeVar("T")


class Threaded(Protocol):
    """Has threads for its work."""

    @property
    def threads(self) -> CapacityLimiter: ...


S = TypeVar("S", bound=Threaded)


def in_thread(method: Callable[Concatenate[S, P], T]) -> "Callable[Concatenate[S, P], CoroutineType[Any, Any, T]]":
    """Let a method that blocks be awaited. Once it began it is finished, whatever happens to the caller."""

    @wraps(method)
    async def awaited(self: S, *args: P.args, **kwargs: P.kwargs) -> T:
        work = partial(method, self, *args, **kwargs)
        return await to_thread.run_sync(work, limiter=self.threads)

    return awaited


async def finished(work: Awaitable[T]) -> T:
    """Await work to its end, also for a caller that is cancelled, and even before it began."""
    with CancelScope(shield=True):
        return await work
    raise AssertionError("what is shielded is not cancelled")
