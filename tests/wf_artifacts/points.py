"""Makes a chosen change of a store fail, or end the process, as a full disk or a crash would."""

import errno
import os
import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import NoReturn

from wf_artifacts.storage.steps import Step, observed

EVERY_MOMENT = frozenset({"before", "halfway", "after"})
UNDONE = frozenset({"before", "halfway"})
"""Moments at which a change can fail: before it, or in the middle of a write."""


@contextmanager
def at_change(
    number: int, act: Callable[[], object], *, once: bool = True, moments: frozenset[str] = UNDONE
) -> Generator[Callable[[], bool]]:
    """Do `act` at moment `number` of those of all changes, counted from 0, and unless `once` at every later one.

    Gives a function that tells whether the moment was reached.
    """
    met = 0

    def observe(step: Step) -> None:
        nonlocal met
        if step.moment in moments:
            met += 1
            if met == number + 1 or (met > number and not once):
                act()

    with observed(observe):
        yield lambda: met > number


def no_room() -> NoReturn:
    raise OSError(errno.ENOSPC, "scripted")


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
