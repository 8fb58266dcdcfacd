"""How a folder that a lock guards stands at one moment: who examines it tells by this whether it moved on meanwhile."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol

from wf_artifacts.errors import NotFound
from wf_artifacts.storage.findings import Fault
from wf_artifacts.storage.home import Home
from wf_artifacts.storage.locks import try_lock

_ATTEMPTS: Final = 3
"""How often to look again at a folder that moves on meanwhile."""


class GuardedFolder(Protocol):
    """A folder of one record, with the lock that is held by who changes it."""

    @property
    def home(self) -> Home: ...

    @property
    def path(self) -> Path: ...

    @property
    def lock(self) -> Path: ...

    def version(self) -> tuple[int, int]:
        """Tell one content of the record from another.

        Raises:
            NotFound: there is none.
        """
        ...


class Moment:
    """Whether somebody held a folder, and which record it had."""

    def __init__(self, folder: GuardedFolder) -> None:
        self._folder = folder
        self.held = folder.home.is_locked(folder.lock)
        self._version = _version(folder)

    def is_unchanged(self) -> bool:
        """Tell whether the folder still stands so."""
        folder = self._folder
        return (folder.home.is_locked(folder.lock), _version(folder)) == (self.held, self._version)

    def mending(self, act: Callable[[], None]) -> Callable[[], None]:
        """Do it under the lock, unless somebody holds that or the record is not as it was found any more."""

        def mend() -> None:
            folder = self._folder
            with folder.home.translated(folder.path), suppress(FileNotFoundError):
                lock = try_lock(folder.lock)
                if lock is None:
                    return
                try:
                    if _version(folder) == self._version:
                        act()
                finally:
                    lock.release()

        return mend


def settled_faults(folder: GuardedFolder, look: Callable[[Moment], Iterator[Fault]]) -> list[Fault]:
    """Give what is wrong with a folder; nothing of one that moves on too fast to tell."""
    for _ in range(_ATTEMPTS):
        moment = Moment(folder)
        found = list(look(moment))
        if moment.is_unchanged():
            return found
    return []


def _version(folder: GuardedFolder) -> tuple[int, int] | None:
    with suppress(NotFound):
        return folder.version()
    return None
