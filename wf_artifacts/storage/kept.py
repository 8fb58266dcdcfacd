"""What was made lately of things that do not change, so that it need not be made again."""

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Kept(Generic[K, V]):
    """The values that were asked for last, up to a bound; the very last one is always there. Any thread may use it."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._bytes = 0
        self._values: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: K) -> V | None:
        """Give what is kept under a key, if anything is."""
        with self._lock:
            found = self._values.get(key)
            if found is None:
                return None
            self._values.move_to_end(key)
            return found[0]

    def keep(self, key: K, value: V, *, size: int) -> None:
        """Keep a value, in the place of any other of its key; `size` is that of what it was made of, in bytes."""
        with self._lock:
            _, earlier = self._values.pop(key, (None, 0))
            self._values[key] = (value, size)
            self._bytes += size - earlier
            while self._bytes > self._most_bytes and len(self._values) > 1:
                _, (_, oldest) = self._values.popitem(last=False)
                self._bytes -= oldest
