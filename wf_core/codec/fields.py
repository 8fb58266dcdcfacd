"""Strict reading of a stored object: every key is there and of its type, and none is left over."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Any, Self, TypeVar, cast

from wf_core.errors import StateCorrupt

T = TypeVar("T")


class Fields:
    """The keys of one stored object. Used as a context manager, it refuses keys that nobody asked for."""

    def __init__(self, value: object, where: str) -> None:
        if not isinstance(value, dict):
            raise corrupt(where, "is no object")
        self._left = dict(cast("dict[str, Any]", value))
        self.where = where

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None and self._left:
            raise corrupt(self.where, f"has the unknown key {min(self._left)!r}")

    def has(self, key: str) -> bool:
        """Tell whether there is a key that need not be there."""
        return key in self._left

    def any(self, key: str) -> Any:
        """Take any JSON value."""
        if key not in self._left:
            raise corrupt(self.where, f"lacks {key!r}")
        return self._left.pop(key)

    def object(self, key: str) -> dict[str, Any]:
        """Take an object."""
        return cast("dict[str, Any]", self.of(dict, key))

    def array(self, key: str) -> list[Any]:
        """Take an array."""
        return cast("list[Any]", self.of(list, key))

    def of(self, kind: type[T], key: str) -> T:
        """Take a value of exactly this type."""
        value = self.any(key)
        if type(value) is not kind:
            raise corrupt(f"{self.where}.{key}", f"is no {kind.__name__}")
        return value

    def maybe(self, kind: type[T], key: str) -> T | None:
        """Take a value of this type, or null."""
        value = self.any(key)
        if value is not None and type(value) is not kind:
            raise corrupt(f"{self.where}.{key}", f"is neither {kind.__name__} nor null")
        return value

    def one_of(self, allowed: Iterable[T], key: str) -> T:
        """Take one of a closed set of texts."""
        value = self.any(key)
        for known in allowed:
            if value == known:
                return known
        raise corrupt(f"{self.where}.{key}", f"is unknown: {value!r}")

    def count(self, key: str, *, least: int = 0) -> int:
        """Take a whole number from `least` up."""
        value = self.of(int, key)
        if value < least:
            raise corrupt(f"{self.where}.{key}", f"is below {least}")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """Take an array of texts."""
        return tuple(self.each(key, as_text))

    def time(self, key: str) -> datetime:
        """Take a time: ISO 8601, UTC."""
        value = self.of(str, key)
        try:
            moment = datetime.fromisoformat(value)
        except ValueError as exc:
            raise corrupt(f"{self.where}.{key}", "is no time") from exc
        if moment.utcoffset() != timedelta(0):
            raise corrupt(f"{self.where}.{key}", "is not in UTC")
        return moment.replace(tzinfo=UTC)

    def maybe_time(self, key: str) -> datetime | None:
        """Take a time, or null."""
        if self._left.get(key, "") is None:
            return self.any(key)
        return self.time(key)

    def each(self, key: str, read: Callable[[Any, str], T]) -> list[T]:
        """Take an array, reading each element with its place."""
        return read_each(self.any(key), f"{self.where}.{key}", read)


def read_each(value: object, where: str, read: Callable[[Any, str], T]) -> list[T]:
    """Read an array, each element with its place."""
    if type(value) is not list:
        raise corrupt(where, "is no array")
    return [read(element, f"{where}[{index}]") for index, element in enumerate(cast("list[Any]", value))]


def as_text(value: object, where: str) -> str:
    """Read a text."""
    if type(value) is not str:
        raise corrupt(where, "is no text")
    return value


def as_count(value: object, where: str) -> int:
    """Read a whole number from 0 up."""
    if type(value) is not int or value < 0:
        raise corrupt(where, "is no whole number from 0 up")
    return value


def corrupt(where: str, reason: str) -> StateCorrupt:
    """Name what is wrong with a stored document, and where."""
    return StateCorrupt(
        f"The stored run is damaged: {where} {reason}.",
        hint="It was left as it is; restore it from a copy.",
        details={"where": where, "reason": reason},
    )
