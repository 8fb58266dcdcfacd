"""Makes a chosen change of files fail, or end the process, as a full disk or a crash would."""

import errno
import os
import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager
from itertools import count
from typing import Any, NoReturn

_CHANGES = ("write", "fsync", "ftruncate", "truncate", "replace", "rename", "unlink", "mkdir", "rmdir")


@contextmanager
def at_change(number: int, act: Callable[[], object], *, once: bool = True) -> Generator[Callable[[], bool]]:
    """Do `act` in the place of change `number`, counted from 0, and unless `once` of every later one.

    A write has written half of its bytes by then. Gives a function that tells whether the change was reached.
    """
    numbers = count()
    reached = False
    originals = {name: getattr(os, name) for name in _CHANGES}

    def instead(name: str) -> Callable[..., Any]:
        def change(*args: Any, **kwargs: Any) -> Any:
            nonlocal reached
            current = next(numbers)
            if current == number or (current > number and not once):
                reached = True
                if name == "write":
                    descriptor, data = args
                    originals[name](descriptor, data[: len(data) // 2])
                act()
            return originals[name](*args, **kwargs)

        return change

    for name in _CHANGES:
        setattr(os, name, instead(name))
    try:
        yield lambda: reached
    finally:
        for name, original in originals.items():
            setattr(os, name, original)


def no_room() -> NoReturn:
    raise OSError(errno.ENOSPC, "scripted")


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
