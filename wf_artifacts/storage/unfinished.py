"""Stores that hold a part of another.

A store that is copied to is marked from before the first thing is copied until everything is there and was read back:
in a home by the file `unfinished-copy`, in a database by a row of `wf_locks`. Everybody but the copy is refused then:
whoever opens the store, and whoever opened it before and makes or changes anything (`home`, `database`).

Only an empty store is marked, and no writer comes in between. A writer looks for the mark under a lock that it keeps
until what it makes is there: `.lock` of a room in a home, the lock of all writers in SQLite, a lock on `wf_locks` in
PostgreSQL. Whoever marks the store waits for these locks, and then looks whether it is empty; a writer that takes its
lock later sees the mark. Appending to what is claimed needs no look: it was there before, so the store is not empty.

Whoever copies also holds the store (`holds`, `database`). A mark without a holder is that of a copy that came to no
end.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol

from wf_artifacts.errors import StoreBusy
from wf_artifacts.storage import atomic
from wf_artifacts.storage.database import Database
from wf_artifacts.storage.holds import FileHold
from wf_artifacts.storage.home import Home
from wf_artifacts.storage.locks import locked

_RECORDS: Final = ("runs", "sessions", "calls", "cache", "artifacts", "deployments")
"""The folders of a home in which any file is what somebody stored, if its name does not begin with a dot."""
ROOMS: Final = (*_RECORDS, "keys", "index")
"""All that a copy may have been made in."""
_CALL_LISTS: Final = frozenset({"calls/open", "calls/of"})
"""Where a file says nothing unless there is a call too."""
_NOT_LOOKED_YET: Final = b"Whether anything was here was not looked yet.\n"
"""What the mark of a home says until it is known to have been empty. What is there is not to be cleared then."""
_TABLES: Final = (
    "deployments", "versions", "artifacts", "runs", "sessions", "continuations", "cached_results",
)  # fmt: skip
"""Those that others do not follow, in the order in which they may be cleared."""


class Target(Protocol):
    """A store that another is copied to. Each method may raise StoreUnavailable or StoreFull."""

    def hold(self) -> None:
        """Keep everybody else from copying to it, until its stores are closed or this process ends.

        Raises:
            StoreBusy: somebody else copies to it; nothing was changed.
        """
        ...

    def holder(self) -> str | None:
        """Name who holds it, the same for every address of the store. None where nobody does."""
        ...

    def clear(self) -> None:
        """Remove what a copy left that came to no end, so that it can begin anew. Any other store is left alone.

        Only for whoever holds it.
        """
        ...

    def begin(self) -> bool:
        """Mark the store: from now on it holds a part. False where it holds something already; it stays as it was.

        Only for whoever holds it.
        """
        ...

    def finish(self) -> None:
        """Take the mark away: it holds everything."""
        ...

    def require_whole(self) -> None:
        """Be sure that there is no mark, unless the store was opened to be copied to.

        Raises:
            UnfinishedCopy
        """
        ...


class HomeTarget:
    """A home that is copied to."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._path = home.root / "copy.lock"
        self._hold = FileHold(self._path)

    def hold(self) -> None:
        with self._home.translated(self._path):
            atomic.make_folder(self._home.root)
            if not self._hold.take():
                raise StoreBusy

    def holder(self) -> str | None:
        with self._home.translated(self._path):
            return self._hold.holder()

    def release(self) -> None:
        """Hold it no more, if it was held."""
        self._hold.release()

    def clear(self) -> None:
        home = self._home
        with home.translated(home.unfinished):
            if self._is_part():
                for name in ROOMS:
                    if (home.root / name).exists():
                        shutil.rmtree(home.root / name)
            elif home.unfinished.exists():
                atomic.remove_file(home.unfinished)

    def begin(self) -> bool:
        with self._home.translated(self._home.unfinished):
            atomic.make_folder(self._home.root)
            # A mark that stands already stays: what was cleared behind it may be there again after a crash.
            return not self._holds_something() and (self._is_part() or self._mark_empty())

    def finish(self) -> None:
        with self._home.translated(self._home.unfinished):
            atomic.remove_file(self._home.unfinished)

    def require_whole(self) -> None:
        with self._home.in_place():
            pass

    def _is_part(self) -> bool:
        """Tell whether it is marked, and was empty then."""
        try:
            return self._home.unfinished.read_bytes() != _NOT_LOOKED_YET
        except FileNotFoundError:
            return False

    def _mark_empty(self) -> bool:
        """Mark it, unless somebody makes something at this moment."""
        mark = self._home.unfinished
        try:
            atomic.replace_file(mark, _NOT_LOOKED_YET)
            self._await_writers()
            if not self._holds_something():
                atomic.replace_file(mark, b"")
                return True
        except BaseException:
            with suppress(OSError):
                mark.unlink(missing_ok=True)
            raise
        atomic.remove_file(mark)
        return False

    def _await_writers(self) -> None:
        """Be sure that whoever did not see the mark has made what it makes."""
        root = self._home.root
        for lock in [*root.glob("*/.lock"), *root.glob("*/*/.lock")]:
            with suppress(FileNotFoundError), locked(lock):
                pass

    def _holds_something(self) -> bool:
        return any(not name.startswith(".") for room in _RECORDS for name in self._files(self._home.root / room))

    def _files(self, room: Path) -> Iterator[str]:
        """Name the files in a folder and those below it that are not being made or removed."""

        def refuse(error: OSError) -> None:
            if not isinstance(error, FileNotFoundError):
                raise error

        for path, folders, names in os.walk(room, onerror=refuse):
            place = self._home.document(Path(path))
            folders[:] = [
                name for name in folders if not atomic.is_temporary(name) and f"{place}/{name}" not in _CALL_LISTS
            ]
            yield from names


class DatabaseTarget:
    """A database that is copied to."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def hold(self) -> None:
        if not self._database.hold():
            raise StoreBusy

    def holder(self) -> str | None:
        return self._database.holder()

    def clear(self) -> None:
        with self._database.writing() as transaction:
            if transaction.rows("unfinished"):
                for table in _TABLES:
                    transaction.change(f"clear_{table}")

    def begin(self) -> bool:
        with self._database.writing() as transaction:
            transaction.change("await_writers")
            if transaction.rows("holds_something"):
                return False
            transaction.change("mark_unfinished")
            return True

    def finish(self) -> None:
        with self._database.writing() as transaction:
            transaction.change("mark_whole")

    def require_whole(self) -> None:
        with self._database.reading():
            pass
