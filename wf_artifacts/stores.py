"""Opens the stores behind an address. The only place that names a backend."""

from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import unquote, urlsplit

from anyio import CancelScope, to_thread

from wf_artifacts.calls.filetree import FileTreeCache, FileTreeContinuations
from wf_artifacts.calls.memory import MemoryCache, MemoryContinuations
from wf_artifacts.calls.sql import SqlCache, SqlContinuations
from wf_artifacts.calls.store import CallCache, ContinuationStore
from wf_artifacts.catalog.filetree import FileTreeCatalog
from wf_artifacts.catalog.memory import MemoryCatalog
from wf_artifacts.catalog.sql import SqlCatalog
from wf_artifacts.catalog.store import CatalogStore
from wf_artifacts.errors import DriverMissing, InvalidStoreUrl
from wf_artifacts.runs.filetree import FileTreeRuns
from wf_artifacts.runs.memory import MemoryRuns
from wf_artifacts.runs.sql import SqlRuns
from wf_artifacts.runs.store import RunStore
from wf_artifacts.sessions.composite import CompositeSessions
from wf_artifacts.sessions.filetree import FileTreeSessions
from wf_artifacts.sessions.memory import MemorySessions
from wf_artifacts.sessions.sql import SqlSessions
from wf_artifacts.sessions.store import SessionStore
from wf_artifacts.storage import soundness
from wf_artifacts.storage.database import Database
from wf_artifacts.storage.findings import Examine, Finding
from wf_artifacts.storage.home import Home
from wf_artifacts.storage.targets import Site, require_fit
from wf_artifacts.storage.unfinished import DatabaseTarget, HomeTarget, Target
from wf_core.errors import StateError


@dataclass(frozen=True, slots=True)
class Stores:
    """Every store of one address."""

    catalog: CatalogStore
    runs: RunStore
    sessions: SessionStore
    continuations: ContinuationStore
    cache: CallCache
    shut: Callable[[], None] | None = None
    """Gives up what they hold open; may wait for the disk."""

    examinations: Sequence[Examine] = ()
    """Look at everything that the stores keep."""
    lacking: Callable[[], Sequence[StateError]] = tuple
    """Say of what no list may name, for it is damaged, why it cannot be read."""
    target: Target | None = None
    """Says that another store is copied to these. None where nothing outlives the process."""

    async def examine(self, *, repair: bool = False) -> AsyncGenerator[Finding]:
        """Look at everything that is kept, and give what is not as it should be; nothing is changed.

        With `repair`, what a finding says that a repair does is done before it is given, unless somebody is using the
        document at that moment. What a repair takes away is kept in `lost+found`.

        Raises:
            UnfinishedCopy: they hold a part of a copy, and are not looked at.
            StoreUnavailable, StoreFull: the examination ended there.
        """
        if self.target is not None:
            await to_thread.run_sync(self.target.require_whole)
        for examination in self.examinations:
            faults = examination()
            while (fault := await to_thread.run_sync(next, faults, None)) is not None:
                if repair and fault.mend is not None:
                    await to_thread.run_sync(fault.mend)
                yield fault.finding

    async def close(self) -> None:
        """Give up what the stores hold open, claims too. Works in a cancelled task; closing again does nothing."""
        if self.shut is not None:
            with CancelScope(shield=True):
                await to_thread.run_sync(self.shut)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close them."""
        await self.close()


def open_stores(url: str, *, to_copy_to: bool = False) -> Stores:
    """Open the stores of an address. Nothing is read or made before the first use.

    `memory://`, `file:///absolute/path` (a folder), `sqlite:///path` and `sqlite:////absolute/path` (a file), or
    `postgresql://…` as PostgreSQL's own programs understand it. Stores that hold a part of a copy refuse everything,
    unless they are opened `to_copy_to`.

    Raises:
        InvalidStoreUrl: no backend has such an address.
        DriverMissing: the driver of the database is not installed.
    """
    # The address may hold a password, so no error repeats it.
    try:
        parts = urlsplit(url)
    except ValueError:
        raise InvalidStoreUrl("it cannot be understood") from None
    if parts.scheme in {"postgresql", "postgres"}:
        return _in_database(_postgres(url, to_copy_to=to_copy_to))
    if parts.query or parts.fragment or parts.netloc:
        raise InvalidStoreUrl("it says more than a scheme and a path")
    path = unquote(parts.path)
    match parts.scheme:
        case "memory" if not path:
            return Stores(MemoryCatalog(), MemoryRuns(), MemorySessions(), MemoryContinuations(), MemoryCache())
        case "file" if path.startswith("/"):
            home = Home(Path(path), to_copy_to=to_copy_to)
            catalog, runs, sessions = FileTreeCatalog(home), FileTreeRuns(home), FileTreeSessions(home)
            continuations, cache = FileTreeContinuations(home), FileTreeCache(home)
            rooms = catalog, runs, sessions, continuations, cache
            target = HomeTarget(home)

            def shut() -> None:
                runs.close()
                sessions.close()
                target.release()

            return Stores(*rooms, shut, examinations=[room.faults for room in rooms], target=target)
        case "sqlite" if path.removeprefix("/"):
            return _in_database(_sqlite(Path(path.removeprefix("/")), to_copy_to=to_copy_to))
        case _:
            raise InvalidStoreUrl("no store has such a scheme, or not with such a path")


def may_be_there(url: str) -> bool:
    """Tell whether there may be a store at an address: False where there is no such folder or file.

    Raises:
        InvalidStoreUrl: as `open_stores`.
    """
    site = _site(url)
    if site is None:
        return True
    return site.path.is_dir() if site.kind == "home" else site.path.is_file()


def require_target(url: str, *, source: str) -> None:
    """Accept an address to copy a store to, before anything is opened or made.

    Raises:
        UnfitTarget: the copy, its source or what stands there would be lost.
        InvalidStoreUrl, DriverMissing: as `open_stores`.
        StoreUnavailable: what stands there cannot be seen.
    """
    target = _site(url)
    if target is not None:
        require_fit(target, _site(source))


def composite_sessions(target: SessionStore, *others: SessionStore) -> SessionStore:
    """Make one store of several: sessions are read from the first that has them, and written to `target`.

    Whoever opened the stores closes them.
    """
    return CompositeSessions(target, *others)


def _site(url: str) -> Site | None:
    """Tell where the store of an address is; None where it is not in a file or a folder of this machine."""
    open_stores(url)
    parts = urlsplit(url)
    path = unquote(parts.path)
    match parts.scheme:
        case "file":
            return Site("home", Path(path))
        case "sqlite":
            return Site("database", Path(path.removeprefix("/")).absolute())
        case _:
            return None


def _in_database(database: Database) -> Stores:
    catalog, runs, sessions = SqlCatalog(database), SqlRuns(database), SqlSessions(database)

    def shut() -> None:
        runs.close()
        sessions.close()
        database.close()

    rooms = catalog, runs, sessions, SqlContinuations(database), SqlCache(database)
    examinations = [partial(soundness.faults, database), *(room.faults for room in rooms)]
    lacking, target = partial(soundness.unlisted, database), DatabaseTarget(database)
    return Stores(*rooms, shut, examinations=examinations, lacking=lacking, target=target)


def _sqlite(path: Path, *, to_copy_to: bool) -> Database:
    from wf_artifacts.storage.sqlite import SqliteDatabase  # noqa: PLC0415  # takes a while to load

    return SqliteDatabase(path, to_copy_to=to_copy_to)


def _postgres(url: str, *, to_copy_to: bool) -> Database:
    try:
        from wf_artifacts.storage.postgres import PostgresDatabase  # noqa: PLC0415  # an extra
    except ImportError as error:
        raise DriverMissing("PostgreSQL", extra="postgres") from error
    return PostgresDatabase(url, to_copy_to=to_copy_to)
