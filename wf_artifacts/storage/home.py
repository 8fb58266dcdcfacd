"""The folder that a file tree lives in: how its files are read, written and named in errors."""

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from types import CoroutineType
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

from anyio import CapacityLimiter

from wf_artifacts.errors import StoreUnavailable, UnfinishedCopy
from wf_artifacts.storage import atomic
from wf_artifacts.storage.documents import Format
from wf_artifacts.storage.faults import refusal
from wf_artifacts.storage.locks import is_locked, locked
from wf_artifacts.storage.places import Place
from wf_artifacts.storage.reading import open_document
from wf_artifacts.storage.records import Record
from wf_artifacts.storage.threads import in_thread

HOME: Final = "the home"
"""What errors are about where they are about no file."""
_THREADS = 16

P = ParamSpec("P")
R = TypeVar("R", bound=Record)
T = TypeVar("T")


class Home:
    """The root folder, made when the first thing is stored in it. One that goes away is not made again."""

    def __init__(self, root: Path, *, to_copy_to: bool = False) -> None:
        """With `to_copy_to` it may hold a part of a copy (`unfinished`); any other is refused then."""
        self.root = root
        self.unfinished = root / "unfinished-copy"
        self._to_copy_to = to_copy_to
        self.threads = CapacityLimiter(_THREADS)
        self.place = Place(root, HOME)
        self._rooms: dict[str, Place] = {}

    def room(self, name: str) -> Path:
        """Give a folder of the home that is there to stay once there was something in it."""
        path = self.root / name
        self._rooms.setdefault(name, Place(path, name))
        return path

    @contextmanager
    def in_place(self) -> Generator[None]:
        """Do something only if the home and its rooms are where they were, and be sure that they still are afterwards.

        Raises:
            StoreGone: they are not. If they were not before, nothing was done.
            UnfinishedCopy: the home holds a part of a copy; nothing was done.
        """
        self.require_whole()
        self._require()
        try:
            yield
        finally:
            self._require()

    def require_whole(self) -> None:
        """Be sure that there is no mark of a copy, unless it was opened to be copied to.

        Whoever makes something looks again once it holds a lock `.lock`, for whoever marks the home waits for those.

        Raises:
            UnfinishedCopy
        """
        if not self._to_copy_to and self.has(self.unfinished):
            raise UnfinishedCopy(HOME)

    def document(self, path: Path) -> str:
        """Name a file in errors: by its path inside the home."""
        return path.relative_to(self.root).as_posix()

    @contextmanager
    def translated(self, path: Path) -> Generator[None]:
        """Let refusals of the operating system become errors of the store about a file."""
        try:
            yield
        except OSError as error:
            raise self.refusal(path, error) from error

    def refusal(self, path: Path, error: OSError) -> StoreUnavailable:
        """Make the error that says that the operating system refused something about a file."""
        return refusal(self.document(path), error)

    def read(self, path: Path) -> bytes | None:
        """Give the content of a file, or None where there is none.

        Raises:
            StateCorrupt, DocumentUnreadable: it is no file, or may not be opened.
        """
        with self.translated(path):
            try:
                with open_document(path, self.document(path)) as file:
                    return file.read()
            except FileNotFoundError:
                return None

    def load(self, path: Path, format: Format[R], **identity: object) -> R | None:
        """Read a document, or give None where there is none. It has the `identity` that its name promises.

        Raises:
            StateError: it cannot be read, or is another's.
        """
        data = self.read(path)
        return None if data is None else format.decode(data, self.document(path), **identity)

    def has(self, path: Path) -> bool:
        """Tell whether there is a file or a folder."""
        with self.translated(path):
            try:
                path.stat()
            except FileNotFoundError:
                return False
            return True

    def size(self, path: Path) -> int:
        """Give how many bytes a file has, 0 where there is none."""
        with self.translated(path):
            try:
                return path.stat().st_size
            except FileNotFoundError:
                return 0

    def is_locked(self, lock: Path) -> bool:
        """Tell whether somebody holds the lock over a file, without getting into anybody's way."""
        with self.translated(lock):
            return is_locked(lock)

    def folders(self, folder: Path) -> list[str]:
        """Give the names of the folders in a folder, none where there is no such folder, in no order."""
        return [entry.name for entry in self._entries(folder) if _is_folder(entry)]

    def files(self, folder: Path) -> list[str]:
        """Give the names of all but the folders in a folder, none where there is no such folder, in no order."""
        return [entry.name for entry in self._entries(folder) if not _is_folder(entry)]

    @contextmanager
    def changing(self, folder: Path, *, lock: Path) -> Generator[None]:
        """Change a folder while no other process does: it is made, and what crashed writers left in it is removed.

        Raises:
            UnfinishedCopy: the home holds a part of a copy; nothing was done.
        """
        with self.translated(folder):
            atomic.make_folder(lock.parent)
            with locked(lock):
                self.require_whole()
                atomic.make_folder(folder)
                atomic.remove_temporary_files(folder)
                yield

    def _require(self) -> None:
        self.place.require()
        for room in self._rooms.values():
            room.require()

    def _entries(self, folder: Path) -> list[os.DirEntry[str]]:
        with self.translated(folder):
            try:
                with os.scandir(folder) as entries:
                    return list(entries)
            except FileNotFoundError:
                return []


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        # A link that leads nowhere, or back to itself.
        return False


class FileTreeStore:
    """A store that keeps its records under a home."""

    def __init__(self, home: Home) -> None:
        self.home = home

    @property
    def threads(self) -> CapacityLimiter:
        return self.home.threads


F = TypeVar("F", bound=FileTreeStore)


def in_home(method: Callable[Concatenate[F, P], T]) -> "Callable[Concatenate[F, P], CoroutineType[Any, Any, T]]":
    """Let a method that blocks be awaited, as `in_thread` does, and be done only in the home that was there before.

    Raises:
        StoreGone: that home was moved or removed.
    """

    @in_thread
    @wraps(method)
    def kept(self: F, *args: P.args, **kwargs: P.kwargs) -> T:
        with self.home.in_place():
            return method(self, *args, **kwargs)

    return kept
