"""What stands at the path of a SQLite database before it is opened to be written to. Looking changes nothing.

Owns which names beside a database are taken: SQLite and `sqlite` keep files of their own there, by name alone, so that
a database under such a name is taken for one of them and is lost, and so is the one beside it.
"""

import os
import re
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Final

LOGS: Final = ("-wal", "-shm", "-journal")
"""The ends of the names of what SQLite keeps beside a database."""

_TAKEN = re.compile(r"(.+)-(wal|shm|journal|lock|copy-lock|owner-.*)", re.IGNORECASE | re.DOTALL)
_CONTENT = ("wf_artifacts", "wf_deployments", "wf_runs", "wf_sessions", "wf_continuations", "wf_cached_results")
_BEGINNING = b"SQLite format 3\0"


def has_taken_name(path: Path) -> bool:
    """Tell whether a file of such a name belongs to a database beside it, also where links lead."""
    return any(_TAKEN.fullmatch(one.name) for one in _named(path))


def belongs_to_file(path: Path) -> bool:
    """Tell whether it has such a name, and the file is there that it would belong to if that is a database."""
    for one in _named(path):
        taken = _TAKEN.fullmatch(one.name)
        if taken is not None and one.parent.is_dir():
            owner = taken[1].casefold()
            if any(beside.name.casefold() == owner and beside.is_file() for beside in one.parent.iterdir()):
                return True
    return False


def is_to_be_made(path: Path) -> bool:
    """Tell whether SQLite would make a new database at a path: there is nothing, or an empty file.

    Raises:
        OSError: the operating system does not say.
    """
    try:
        return path.stat().st_size == 0
    except FileNotFoundError:
        return True


def taken_for_log(path: Path) -> str | None:
    """Name a database that a new one at `path` would take for its log, and remove.

    Raises:
        OSError: the operating system does not say.
    """
    beside = (one.with_name(one.name + end) for one in _named(path) for end in LOGS)
    return next((one.name for one in beside if one.is_file() and _begins_as_database(one)), None)


def tables(path: Path) -> list[str]:
    """Name the tables and views of the database at a path; there is a file that is not empty.

    Raises:
        sqlite3.Error: it cannot be read, or is no database.
    """
    with closing(_looking(path)) as connection:
        found = connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY rowid")
        return [name for (name,) in found if not name.startswith("sqlite_")]


def is_used_by_earlier(path: Path, version: int) -> bool:
    """Tell whether a database of an earlier schema than `version` holds something that no unfinished copy left.

    Raises:
        sqlite3.Error: it cannot be read.
    """
    with closing(_looking(path)) as connection:
        known = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if "wf_schema" not in known:
            return False
        is_earlier = connection.execute("SELECT 1 FROM wf_schema WHERE version < ?", (version,)).fetchone()
        if not is_earlier or connection.execute("SELECT 1 FROM wf_locks WHERE name = 'unfinished copy'").fetchone():
            return False
        return any(
            connection.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone()  # noqa: S608 - our own names
            for table in _CONTENT
            if table in known
        )


def stranger(names: Iterable[str]) -> str | None:
    """Give the first table that is none of a store's."""
    return next((name for name in names if not name.startswith("wf_")), None)


def _looking(path: Path) -> sqlite3.Connection:
    """Connect to a database so that nothing of it is changed, and nothing left beside it."""
    # Without a log the file is all there is, and nobody has it open as `sqlite` opens it. With one, the log may hold
    # what the file lacks.
    has_log = Path(f"{os.path.realpath(path)}-wal").exists()
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro{'' if has_log else '&immutable=1'}", uri=True)


def _named(path: Path) -> tuple[Path, Path]:
    """Give a path as it was written, and where links lead."""
    return path, Path(os.path.realpath(path))


def _begins_as_database(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_BEGINNING)) == _BEGINNING
