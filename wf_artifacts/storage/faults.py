"""What the operating system's refusals mean to a caller of a store."""

import errno
import os
from collections.abc import Generator
from contextlib import contextmanager

from wf_artifacts.errors import StoreFull, StoreUnavailable

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


@contextmanager
def translated(document: str) -> Generator[None]:
    """Turn an OSError into StoreFull or StoreUnavailable about `document`, without any path of the host."""
    try:
        yield
    except OSError as error:
        kind = StoreFull if error.errno in _NO_ROOM else StoreUnavailable
        reason = os.strerror(error.errno) if error.errno else type(error).__name__
        raise kind(document, reason) from error
