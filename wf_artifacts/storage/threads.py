"""Work that waits for a disk or a database runs in threads of its own, unless it is done sooner than handed over.

So neither the event loop nor user code that fills the default threads waits for it, or makes it wait.
"""

import math
from collections.abc import Awaitable, Callable
from functools import partial, wraps
from types import CoroutineType
from typing import Any, Concatenate, Final, ParamSpec, Protocol, TypeVar

from anyio import CancelScope, CapacityLimiter, to_thread

AT_ONCE_BYTES: Final = 64 * 1024
"""What is not longer than this takes less time to write than to hand to a thread."""

AT_ONCE_SECONDS: Final = 0.001
"""Where the last write was synced in less, the next is not handed to a thread either, which would cost as much. A disk
that stalls holds up others once: after that it is waited for in a thread until it is fast again."""

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


class Pace:
    """How fast writing somewhere is: whether a write is done sooner than handed over."""

    def __init__(self) -> None:
        self.seconds = math.inf
        """How long the last write took that was synced."""

    def allows(self, length: int) -> bool:
        """Tell whether so many bytes are written and synced at once."""
        return length <= AT_ONCE_BYTES and self.seconds <= AT_ONCE_SECONDS
