"""Every single change that a store makes, one step at a time, and who is told of it.

Nobody is, until a test installs an observer, which ends the process at a step of its choice as a crash would.
"""

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Final, Literal


@dataclass(frozen=True, slots=True)
class Step:
    """An instant of a change."""

    act: str
    """What is done: write, fsync, rename, unlink, commit …"""
    what: str
    """The name of the file, or what else is changed."""
    moment: Literal["before", "halfway", "after"]


Observer = Callable[[Step], None]

_observer: Observer | None = None
_NOBODY: Final = nullcontext()
"""What a step costs when nobody is told: next to nothing."""


@contextmanager
def observed(observer: Observer) -> Generator[None]:
    """Tell `observer` of every step that this process makes meanwhile. What it raises, the change raises."""
    global _observer  # noqa: PLW0603
    earlier, _observer = _observer, observer
    try:
        yield
    finally:
        _observer = earlier


def is_observed() -> bool:
    """Tell whether anybody is told of steps."""
    return _observer is not None


def step(act: str, what: str) -> AbstractContextManager[None]:
    """Make one change, which is done whole or not at all."""
    return _NOBODY if _observer is None else _told(act, what)


def step_in_halves(act: str, what: str, data: bytes) -> AbstractContextManager[Iterable[bytes]]:
    """Write `data`, given in the parts to write, so that it can also be torn."""
    return nullcontext((data,)) if _observer is None else _told_in_halves(act, what, data)


@contextmanager
def _told(act: str, what: str) -> Generator[None]:
    _tell(act, what, "before")
    yield
    _tell(act, what, "after")


@contextmanager
def _told_in_halves(act: str, what: str, data: bytes) -> Generator[Iterator[bytes]]:
    with _told(act, what):
        yield _halves(act, what, data)


def _halves(act: str, what: str, data: bytes) -> Iterator[bytes]:
    yield data[: len(data) // 2]
    _tell(act, what, "halfway")
    yield data[len(data) // 2 :]


def _tell(act: str, what: str, moment: Literal["before", "halfway", "after"]) -> None:
    """Tell of one instant of a change."""
    if _observer is not None:
        _observer(Step(act, what, moment))
