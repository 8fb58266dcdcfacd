"""Holding a store so that nobody else copies to it, by a lock on a file. The hold ends with its process.

The file is there while it is locked. One that a killed process left belongs to nobody; the next who holds the store
takes it. Who uses the store otherwise does not look at it.
"""

from contextlib import suppress
from pathlib import Path

from wf_artifacts.storage.locks import FileLock, is_locked, remove_lock, try_lock


class FileHold:
    """The right to copy to what the file at `path` stands for. Every method but `release` may raise OSError."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock: FileLock | None = None

    def take(self) -> bool:
        """Hold it until it is released. False where somebody holds it already."""
        lock = try_lock(self._path)
        if lock is None:
            return False
        self._lock = lock
        return True

    def holder(self) -> str | None:
        """Name the file, by whatever path it is reached, if somebody holds it."""
        if not is_locked(self._path):
            return None
        with suppress(FileNotFoundError):
            status = self._path.stat()
            return f"{status.st_dev}:{status.st_ino}"
        return None

    def release(self) -> None:
        """Give it up, and remove the file. Releasing again does nothing."""
        if self._lock is not None:
            with suppress(OSError):
                remove_lock(self._path)
            self._lock.release()
            self._lock = None
