"""Stores that hold a part of another.

Such a store is marked from before the first thing is copied to it until everything is there and was read back. In a
home the mark is the file `unfinished-copy`, in a database a row of `wf_locks`. Whoever opens a marked store otherwise
than to copy to it is refused (`home`, `database`).

Whoever copies holds the store meanwhile (`holds`, `database`), so a mark without a holder is that of a copy that came
to no end.
"""

import shutil
from typing import Final, Protocol

from wf_artifacts.errors import StoreBusy
from wf_artifacts.storage import atomic
from wf_artifacts.storage.database import Database
from wf_artifacts.storage.holds import FileHold
from wf_artifacts.storage.home import Home

_ROOMS: Final = (
    "runs", "keys", "sessions", "calls", "cache", "artifacts", "deployments", "index", "lost+found",
)  # fmt: skip
"""The folders of a home that a copy may have been made in."""
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

    def begin(self) -> None:
        """Mark the store: from now on it holds a part."""
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
            if home.unfinished.exists():
                for name in _ROOMS:
                    if (home.root / name).exists():
                        shutil.rmtree(home.root / name)

    def begin(self) -> None:
        with self._home.translated(self._home.unfinished):
            atomic.make_folder(self._home.root)
            atomic.make_mark(self._home.unfinished)

    def finish(self) -> None:
        with self._home.translated(self._home.unfinished):
            atomic.remove_file(self._home.unfinished)

    def require_whole(self) -> None:
        with self._home.in_place():
            pass


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

    def begin(self) -> None:
        self._change("mark_unfinished")

    def finish(self) -> None:
        self._change("mark_whole")

    def require_whole(self) -> None:
        with self._database.reading():
            pass

    def _change(self, name: str) -> None:
        with self._database.writing() as transaction:
            transaction.change(name)
