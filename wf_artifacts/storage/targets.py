"""Where another store may be copied to. Looked at before anything is opened or made, for what is wrong there is lost.

Whether a store of ours that is there is empty, and a part of a copy, belongs to `unfinished`.
"""

import os
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal

from wf_artifacts.errors import StoreUnavailable, UnfitTarget
from wf_artifacts.storage.atomic import is_temporary
from wf_artifacts.storage.database import DATABASE
from wf_artifacts.storage.faults import translated
from wf_artifacts.storage.home import HOME
from wf_artifacts.storage.sqlite import SQLITE
from wf_artifacts.storage.statements import load_migrations
from wf_artifacts.storage.strangers import (
    belongs_to_file,
    has_taken_name,
    is_to_be_made,
    is_used_by_earlier,
    stranger,
    tables,
    taken_for_log,
)
from wf_artifacts.storage.unfinished import ROOMS
from wf_core.frozen import frozen

_PARTS: Final = frozenset({*ROOMS, "copy.lock", "lost+found", "unfinished-copy"})
"""What stands in a home."""
_SIGNS: Final = (
    "artifacts/.lock", "cache/??/.lock", "calls/??/.lock", "index/.lock", "index/sessions/.lock", "unfinished-copy",
)  # fmt: skip
"""What no folder but a home has, and each home in use has one of."""
_INDEX_FILE: Final = re.compile(r"\d{6,}-[0-9a-f]{8}\.db(-wal|-shm|-journal)?")
_KEYS: Final = re.compile(r"[0-9a-f]{2}")
_NOT_SQLITE: Final = frozenset({sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT})
_LEAVES_IT: Final = "Name another address, or move what is there away first; it was left as it is."
_TAKEN_NAME: Final = "its name is that of a file which is kept beside a database"
_OTHER_NAME: Final = (
    "Choose a name that does not end with -wal, -shm, -journal, -lock, -copy-lock or -owner-…, "
    "and has no files of such names beside it; nothing was changed."
)


@frozen
class Site:
    """Where a store on this machine is."""

    kind: Literal["home", "database"]
    """A folder, or a SQLite file."""
    path: Path

    @property
    def real(self) -> Path:
        """Where links lead."""
        return Path(os.path.realpath(self.path))


def require_fit(target: Site, source: Site | None) -> None:
    """Accept a place to copy a store to, which is at `source` if it is on this machine. Nothing is changed.

    Raises:
        UnfitTarget: the copy, its source or what stands there would be lost.
        StoreUnavailable: what stands there cannot be seen.
    """
    with translated(HOME if target.kind == "home" else DATABASE):
        if source is not None:
            _require_apart(target, source)
        if target.kind == "home":
            _require_home(target)
        else:
            _require_database(target)
        if any(_is_home(folder) for folder in target.real.parents):
            raise UnfitTarget("it lies inside the home of a store", hint="Name an address outside of it.")


def _require_apart(target: Site, source: Site) -> None:
    """Be sure that neither is a part of the other. One store under two addresses is told once it is held."""
    if source.kind == "home" and _is_below(target.real, source.real):
        raise UnfitTarget("it lies inside the store that is to be copied", hint="Name an address outside of it.")
    if target.kind == "home" and _is_below(source.real, target.real):
        raise UnfitTarget("the store that is to be copied lies inside it", hint="Name an address beside that store.")
    if target.kind == source.kind and target.real != source.real and _is_same(target.real, source.real):
        raise UnfitTarget("it is the store that is to be copied, under another name")


def _require_home(target: Site) -> None:
    path = target.path
    if belongs_to_file(path):
        raise UnfitTarget(_TAKEN_NAME, hint=_OTHER_NAME)
    if not path.exists():
        return
    if not path.is_dir():
        raise UnfitTarget("what stands there is no folder", hint=_LEAVES_IT)
    strange = next(_strange_names(path), None)
    if strange is not None:
        raise UnfitTarget(f"the folder holds {strange!r}, which no copy may touch", hint=_LEAVES_IT)


def _require_database(target: Site) -> None:
    path = target.path
    if has_taken_name(path):
        raise UnfitTarget(_TAKEN_NAME, hint=_OTHER_NAME)
    if path.exists() and not path.is_file():
        raise UnfitTarget("what stands there is no file", hint=_LEAVES_IT)
    if is_to_be_made(path):
        other = taken_for_log(path)
        if other is not None:
            raise UnfitTarget(f"SQLite would take {other!r}, a database beside it, for its log", hint=_OTHER_NAME)
        return
    try:
        other = stranger(tables(path))
        # One of this version is looked at once nobody else may write to it; opening it changes nothing.
        is_used = other is None and is_used_by_earlier(path, len(load_migrations(SQLITE)))
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF not in _NOT_SQLITE:
            raise StoreUnavailable(DATABASE, str(error)) from error
        raise UnfitTarget("the file there is no SQLite database, or a damaged one", hint=_LEAVES_IT) from error
    if is_used:
        raise UnfitTarget("there is a store of an earlier version that holds something", hint=_LEAVES_IT)
    if other is not None:
        raise UnfitTarget(f"the database there belongs to another program: it has a table {other!r}", hint=_LEAVES_IT)


def _strange_names(home: Path) -> Iterator[str]:
    """Give what an empty home has not in it, nor in those of its rooms that `unfinished` does not look into."""
    for name in _names(home):
        if name not in _PARTS and not is_temporary(name):
            yield name
    for room, ours in (("index", _is_of_index), ("keys", _is_of_keys)):
        for name in _names(home / room):
            if not ours(name):
                yield f"{room}/{name}"
    for name in _names(home / "lost+found"):
        yield f"lost+found/{name}"


def _is_of_index(name: str) -> bool:
    return name in {".lock", "sessions"} or is_temporary(name) or _INDEX_FILE.fullmatch(name) is not None


def _is_of_keys(name: str) -> bool:
    return is_temporary(name) or _KEYS.fullmatch(name) is not None


def _names(folder: Path) -> list[str]:
    try:
        return sorted(path.name for path in folder.iterdir())
    except (FileNotFoundError, PermissionError):
        # The lost+found of a file system belongs to the administrator.
        return []


def _is_home(folder: Path) -> bool:
    return any(next(folder.glob(sign), None) is not None for sign in _SIGNS)


def _is_below(path: Path, folder: Path) -> bool:
    return any(_is_same(parent, folder) for parent in path.parents)


def _is_same(one: Path, other: Path) -> bool:
    """Tell whether two paths lead to the same, also where letters differ in case or a folder is mounted twice."""
    try:
        return one.samefile(other)
    except FileNotFoundError:
        return one == other
