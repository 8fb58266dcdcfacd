"""Taking over what other processes left in the middle: runs, and sessions."""

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Final, TypeVar

import anyio

from wf_core.errors import WfError

logger = logging.getLogger(__name__)
Id = TypeVar("Id", bound=str)

AT_ONCE: Final = 8
"""How many are taken over at the same time: one that waits for its sources does not hold up the others."""


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
