"""What the operating system's refusals mean to a caller of a store."""

import errno
import os
from collections.abc import Generator
from contextlib import contextmanager

from wf_artifacts.errors import DocumentUnreadable, StoreFull, StoreUnavailable

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_OF_ONE_DOCUMENT = frozenset({errno.EACCES, errno.EPERM, errno.ELOOP})


@contextmanager
def translated(document: str) -> Generator[None]:
    """Turn an OSError into the StoreUnavailable that says it best, about `document`, without a path of the host."""
    try:
        yield
    except OSError as error:
        raise refusal(document, error) from error


def refusal(document: str, error: OSError) -> StoreUnavailable:
    """Make the error that says that the operating system refused something about `document`."""
    kind = StoreUnavailable
    if error.errno in _NO_ROOM:
        kind = StoreFull
    elif error.errno in _OF_ONE_DOCUMENT:
        kind = DocumentUnreadable
    return kind(document, os.strerror(error.errno) if error.errno else type(error).__name__)
