"""What was worked out lately, by all that goes into it, so that it need not be worked out again."""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Recent(Generic[K, V]):
    """The values that were asked for last. A key has to name everything that its value depends on."""

    def __init__(self, most_kept: int = 32) -> None:
        self._most_kept = most_kept
        self._kept: OrderedDict[K, V] = OrderedDict()

    async def get(self, key: K, work_out: Callable[[], Awaitable[V]]) -> V:
        """Give the value of a key, worked out if it is not kept. What fails is not kept."""
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        return self.keep(key, await work_out())

    def keep(self, key: K, value: V) -> V:
        """Give the value of a key, which is this one if none is kept."""
        value = self._kept.setdefault(key, value)
        self._kept.move_to_end(key)
        while len(self._kept) > self._most_kept:
            self._kept.popitem(last=False)
        return value
