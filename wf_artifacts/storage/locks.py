"""Locks between processes, and between tasks of one process: flock on a file. They end with their process.

A lock is held alone, or shared with others. It belongs to one opening of the file, so two tasks that open it exclude
each other like two processes do.
"""

import fcntl
import io
import os
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from wf_artifacts.errors import StoreUnavailable

_PATIENCE_SECONDS = 15
"""A change under a lock takes milliseconds; a holder that takes longer than this is stopped or hangs."""
_ONLOOKERS = 100
"""How often to try again while others only look whether the lock is held, a millisecond apart."""


class FileLock:
    """A lock that is held until it is released."""

    def __init__(self, file: io.FileIO) -> None:
        self._file = file

    @property
    def held(self) -> bool:
        return not self._file.closed

    def release(self) -> None:
        """Give it up. Releasing again does nothing."""
        if self.held:
            # A child that was forked meanwhile shares the opening; closing ours alone would leave it locked.
            fcntl.flock(self._file, fcntl.LOCK_UN)
            self._file.close()


def try_lock(path: Path) -> FileLock | None:
    """Take the lock over a file, which is made where it is missing. None when somebody holds it.

    Raises:
        FileNotFoundError: the folder is not there, or went away meanwhile.
    """
    return _open_and(_take, path)


def remove_lock(path: Path) -> None:
    """Remove the file of a lock, which is empty: one that is not, is somebody's who gave it the same name."""
    with suppress(FileNotFoundError):
        if path.stat().st_size == 0:
            path.unlink()


def try_lock_at_once(path: Path) -> FileLock | None:
    """Take a lock as `try_lock` does. None also when others only look whether it is held."""
    return _open_and(_take_at_once, path)


def is_locked(path: Path) -> bool:
    """Tell whether somebody holds the lock over a file, without getting into anybody's way."""
    try:
        # A pipe in its place would be waited for.
        file = io.FileIO(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "r")
    except FileNotFoundError:
        return False
    with file:
        return not _try_flock(file, fcntl.LOCK_SH)


@contextmanager
def locked(path: Path, *, patience_seconds: float | None = None) -> Generator[None]:
    """Hold the lock over a file, waiting for others to finish.

    Raises:
        StoreUnavailable: somebody has held it for too long.
    """
    lock = _wait(_take, path, patience_seconds)
    try:
        yield
    finally:
        lock.release()


def share_lock(path: Path, *, patience_seconds: float | None = None) -> FileLock:
    """Take the lock over a file together with others, waiting for one who holds it alone.

    Raises:
        StoreUnavailable: somebody has held it alone for too long.
    """
    return _wait(_share, path, patience_seconds)


def _wait(take: Callable[[io.FileIO], bool], path: Path, patience_seconds: float | None) -> FileLock:
    patience = _PATIENCE_SECONDS if patience_seconds is None else patience_seconds
    deadline = time.monotonic() + patience
    pause = 0.001
    while (lock := _open_and(take, path)) is None:
        if time.monotonic() > deadline:
            raise StoreUnavailable("its lock", f"another process has held it for {patience} seconds")
        time.sleep(pause)
        pause = min(2 * pause, 0.02)
    return lock


def _open_and(take: Callable[[io.FileIO], bool], path: Path) -> FileLock | None:
    """Open the file, and give it as a lock if `take` gets it."""
    while True:
        file = io.FileIO(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), "r+")
        if not take(file):
            file.close()
            return None
        if _is_at(file, path):
            return FileLock(file)
        file.close()


def _take(file: io.FileIO) -> bool:
    """Lock an open file unless a holder has it; `is_locked` of others is waited for."""
    for _ in range(_ONLOOKERS):
        if _try_flock(file, fcntl.LOCK_EX):
            return True
        if not _try_flock(file, fcntl.LOCK_SH):
            return False
        fcntl.flock(file, fcntl.LOCK_UN)
        time.sleep(0.001)
    return False


def _take_at_once(file: io.FileIO) -> bool:
    return _try_flock(file, fcntl.LOCK_EX)


def _share(file: io.FileIO) -> bool:
    return _try_flock(file, fcntl.LOCK_SH)


def _try_flock(file: io.IOBase, kind: int) -> bool:
    with suppress(BlockingIOError):
        fcntl.flock(file.fileno(), kind | fcntl.LOCK_NB)
        return True
    return False


def _is_at(file: io.FileIO, path: Path) -> bool:
    """Tell whether the path still leads to the open file: it may have been removed before the lock was ours."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False
