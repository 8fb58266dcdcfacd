"""Paths that a person named, and how it is said that the system refuses them."""

import errno
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from wf_mcp.errors import InvalidArgument


@contextmanager
def named(path: Path | str, *, hint: str = "Name another.") -> Generator[None]:
    """Say of what the system refuses meanwhile that `path` cannot be used.

    Raises:
        InvalidArgument: it was refused; the message gives the reason.
    """
    try:
        yield
    except OSError as error:
        reason = "It is no folder" if isinstance(error, FileExistsError) else error.strerror or str(error)
        raise InvalidArgument(f"{path} cannot be used: {reason}.", hint=hint) from error


def check(path: Path) -> None:
    """Find out whether a path can be one at all. Whether there is anything is not asked.

    Raises:
        InvalidArgument: it is too long, leads in circles, or may not be looked at.
    """
    with named(path):
        try:
            path.resolve().exists()
        except RuntimeError as error:  # what Python says up to 3.12 of links that lead to each other
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP)) from error
