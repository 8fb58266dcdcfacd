"""Where sessions are made and taken apart under temporary names, and what a crash leaves there."""

from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from wf_artifacts.sessions.files.folder import LOCK
from wf_artifacts.storage import atomic
from wf_artifacts.storage.home import Home
from wf_artifacts.storage.locks import share_lock, try_lock_at_once

GUARD: Final = ".lock"


class Workshop:
    """The folder of all sessions, as those use it who make and remove them."""

    def __init__(self, home: Home, folder: Path) -> None:
        self._home = home
        self._folder = folder

    @contextmanager
    def using(self, made: Path) -> Generator[None]:
        """Make or remove a session under a temporary name. A crash may have left something under it."""
        with self._home.translated(self._folder):
            atomic.make_folder(self._folder)
            if made.exists():
                self.clear_up()
            lock = share_lock(self._guard)
        try:
            yield
        finally:
            lock.release()

    @contextmanager
    def alone(self) -> Generator[bool]:
        """Tell whether nobody makes or removes a session; then nobody does until the block ends."""
        with self._home.translated(self._folder):
            lock = try_lock_at_once(self._guard)
        try:
            yield lock is not None
        finally:
            if lock is not None:
                lock.release()

    def clear_up(self) -> None:
        """Remove what a crash left, unless somebody may be at it now."""
        with self.alone() as alone:
            for name in self._home.folders(self._folder) if alone else ():
                if atomic.is_temporary(name):
                    with suppress(OSError):
                        atomic.remove_folder(self._folder / name, last=LOCK)

    @property
    def _guard(self) -> Path:
        return self._folder / GUARD
