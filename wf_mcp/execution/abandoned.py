"""Taking over what other processes left in the middle: runs, and sessions."""

import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Final, Generic, TypeVar

import anyio

from wf_artifacts.errors import StoreUnavailable
from wf_core.errors import StateError, WfError

logger = logging.getLogger(__name__)
Id = TypeVar("Id", bound=str)

AT_ONCE: Final = 8
"""How many are taken over at the same time: one that waits for its sources does not hold up the others."""


def is_of_store(error: WfError | None) -> bool:
    """Tell whether the store as a whole is to blame for an error: it has no room, or is not there."""
    return isinstance(error, StoreUnavailable) and not isinstance(error, StateError)


class Attempts(Generic[Id]):
    """How often each was tried to be taken over unasked. What a store is to blame for does not count."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._made: Counter[Id] = Counter()

    async def take_over(
        self, found: Iterable[Id], torn: set[Id], take: Callable[[list[Id]], Awaitable[Mapping[Id, WfError]]]
    ) -> None:
        """Try those that were not tried too often.

        `torn` are those that a failing store has torn from this process since the last time; it is empty afterwards.
        """
        for one in torn:
            self._made.pop(one, None)
        torn.clear()
        tried = [one for one in found if self._made[one] < self._most]
        self._made.update(tried)
        left = await take(tried)
        self._made.subtract(one for one, error in left.items() if is_of_store(error))


async def take_over_each(
    kind: str, ids: Iterable[Id], take: Callable[[Id], Awaitable[object]], *, busy: type[WfError]
) -> Mapping[Id, WfError]:
    """Take each over as far as possible, and give those that are left, with the reason; `kind` names them in the log.

    One that `busy` says another process took over meanwhile is not among them.
    """
    left: dict[Id, WfError] = {}
    limit = anyio.CapacityLimiter(AT_ONCE)

    async def attempt(one: Id) -> None:
        async with limit:
            try:
                await take(one)
            except busy:
                return
            except WfError as error:
                logger.warning("The %s %s is left as it is: %s", kind, one, error)
                left[one] = error

    async with anyio.create_task_group() as tasks:
        for one in ids:
            tasks.start_soon(attempt, one)
    return left
