"""A database in a SQLite file, shared by every process of one machine.

    wf.db                 the database, with wf.db-wal and wf.db-shm beside it while it is open
    wf.db-lock            held while the file is made or its schema is changed
    wf.db-owner-<name>    locked by a process that claims runs: it is free as soon as that process ends
    wf.db-copy-lock       locked by a process that copies another store to the database

Writers take turns; readers wait for nobody. What is acknowledged is on disk: the write-ahead log is synced (FULL), and
the file and its log are still at their place.
"""

import os
import sqlite3
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, cast

from wf_artifacts.errors import NotAStore, StoreFull, StoreUnavailable
from wf_artifacts.storage import atomic
from wf_artifacts.storage.connections import Answer, Misunderstood, WouldWait
from wf_artifacts.storage.database import DATABASE, Database
from wf_artifacts.storage.documents import corrupt
from wf_artifacts.storage.faults import refusal, translated
from wf_artifacts.storage.holds import FileHold
from wf_artifacts.storage.locks import FileLock, is_locked, locked, remove_lock, try_lock
from wf_artifacts.storage.migrations import migrate
from wf_artifacts.storage.places import Place
from wf_artifacts.storage.statements import NO_PARAMETERS, Dialect, Parameters, load_migrations
from wf_artifacts.storage.steps import step
from wf_artifacts.storage.strangers import has_taken_name, is_to_be_made, stranger, tables
from wf_core.errors import WfError

SQLITE: Final = Dialect("sqlite", parameter=r":\1")

_THREADS = 16
_FILE_MODE = 0o600
_PATIENCE_SECONDS = 15
"""A change takes milliseconds; another process that takes longer than this is stopped or hangs."""
_MOST_LOG_BYTES = 4 * 1024 * 1024
"""How long the write-ahead log stays when nobody reads; it is checkpointed at this length too."""
_SETTINGS = (
    "PRAGMA foreign_keys = ON",
    # Some builds overwrite all that is deleted, in pages that need not be written.
    "PRAGMA secure_delete = FAST",
    f"PRAGMA journal_size_limit = {_MOST_LOG_BYTES}",
)
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_NO_ROOM_FOR_INDEX = sqlite3.SQLITE_IOERR_SHMSIZE
"""The index of the write-ahead log could not be made as long as it has to be."""
_PRIMARY = 0xFF
"""The bits of an error code that say what kind it is."""


class SqliteConnection:
    """One connection to the file, which has to stay at its `place`, where one is given; then it is not made either."""

    usable = True

    def __init__(self, path: Path, place: Place | None = None) -> None:
        self._document = path.name
        self._place = place
        self._log_path = path.with_name(f"{path.name}-wal")
        self._log = None if place is None else Place(self._log_path, DATABASE)
        """No other log takes its place while a connection is open."""
        self._log_descriptor: int | None = None
        self._settings: dict[str, str | int] = {}
        self._writing = False
        try:
            self._driver = sqlite3.connect(
                path if place is None else f"{path.as_uri()}?mode=rw",
                timeout=_PATIENCE_SECONDS,
                isolation_level=None,
                check_same_thread=False,
                uri=place is not None,
            )
            self._driver.create_function("wf_now", 0, _now)
        except sqlite3.Error as error:
            raise self._meaning(error) from error

    def begin(self, *, writing: bool, sync: bool = True) -> None:
        self._writing = writing
        self._settle(writing=writing, sync=sync, at_once=False)
        if not writing and self._place is not None:
            self._place.require()
        self.run("BEGIN IMMEDIATE" if writing else "BEGIN")

    def run(self, text: str, parameters: Parameters = NO_PARAMETERS) -> Answer:
        try:
            cursor = self._driver.execute(text, parameters)
            return Answer(cursor.fetchall(), cursor.rowcount)
        except sqlite3.Error as error:
            raise self._meaning(error) from error

    def run_many(self, text: str, rows: Sequence[Parameters]) -> None:
        try:
            self._driver.executemany(text, rows)
        except sqlite3.Error as error:
            raise self._meaning(error) from error

    def commit(self) -> None:
        if self._writing and self._place is not None and self._log is not None:
            self._place.require()
            self._log.require()
        self.run("COMMIT")

    def change_at_once(self, text: str, parameters: Parameters) -> int:
        """Run a statement that is a transaction of its own, and give how many rows it changed.

        It is on disk once `sync_log` has returned.

        Raises:
            WouldWait: somebody else is writing; nothing was changed.
        """
        log = self._open_log()
        self._settle(writing=True, sync=log is None, at_once=True)
        if self._place is not None and self._log is not None:
            self._place.require_lately()
            self._log.require_lately()
        try:
            changed = self._driver.execute(text, parameters).rowcount
        except sqlite3.Error as error:
            if _code(error) == sqlite3.SQLITE_BUSY:
                raise WouldWait from error
            raise self._meaning(error) from error
        if log is not None:
            atomic.begin_sync(log)
        return changed

    def sync_log(self) -> None:
        """Bring every transaction that was committed to disk, as SQLite does at each commit that it syncs."""
        log = self._open_log()
        if log is not None:
            try:
                atomic.sync_data(log, self._log_path)
            except OSError as error:
                raise refusal(DATABASE, error) from error

    def rollback(self) -> None:
        self.run("ROLLBACK")

    def close(self) -> None:
        with suppress(sqlite3.Error):
            self._driver.close()
        if self._log_descriptor is not None:
            os.close(self._log_descriptor)
            self._log_descriptor = None

    def _open_log(self) -> int | None:
        """Open the write-ahead log, which stays while the connection is open. None where SQLite alone can sync it."""
        if self._log_descriptor is None and atomic.CAN_SYNC_DATA and self.run("PRAGMA journal_mode").rows == [("wal",)]:
            with suppress(OSError):
                self._log_descriptor = os.open(self._log_path, os.O_RDONLY | os.O_CLOEXEC)
        return self._log_descriptor

    def _settle(self, *, writing: bool, sync: bool, at_once: bool) -> None:
        """Say how long to wait for others, and for the disk."""
        self._set("busy_timeout", 0 if at_once else int(_PATIENCE_SECONDS * 1000))
        if writing:
            self._set("synchronous", "FULL" if sync else "NORMAL")

    def _set(self, name: str, value: str | int) -> None:
        if self._settings.get(name) != value:
            self.run(f"PRAGMA {name} = {value}")
            self._settings[name] = value

    def _meaning(self, error: sqlite3.Error) -> WfError:
        code = _code(error)
        reason = str(error).rstrip(".")
        if code in _DAMAGED:
            return corrupt(self._document, reason)
        if code == sqlite3.SQLITE_ERROR:
            return Misunderstood(DATABASE, reason)
        is_full = code == sqlite3.SQLITE_FULL or getattr(error, "sqlite_errorcode", None) == _NO_ROOM_FOR_INDEX
        return (StoreFull if is_full else StoreUnavailable)(DATABASE, reason)


class SqliteDatabase(Database):
    """The database in the file at `path`, which is made when it is first used."""

    checks_types = False

    def __init__(self, path: Path, *, to_copy_to: bool = False) -> None:
        # SQLite lets waiting writers look again from time to time; those of one process need not wait so long.
        self._writer = threading.Lock()
        super().__init__(SQLITE, threads=_THREADS, turn=self._writer, to_copy_to=to_copy_to)
        self._path = path.absolute()
        self._place = Place(self._path, DATABASE)
        self._ready = False
        self._owners: dict[str, FileLock] = {}
        real = Path(os.path.realpath(self._path))
        self._hold = FileHold(real.with_name(f"{real.name}-copy-lock"))

    def connect(self) -> SqliteConnection:
        if self._ready:
            return self._open()
        with translated(DATABASE):
            atomic.make_folder(self._path.parent)
            lock = self._beside("lock")
            with locked(lock):
                try:
                    # Another thread may have been first.
                    connection = self._open() if self._ready else self._prepare()
                    self._ready = True
                finally:
                    remove_lock(lock)
        return connection

    def change_at_once(self, name: str, parameters: Parameters) -> int:
        """Let the statement begin and commit by itself: that is the least that SQLite asks for."""
        text = self._statements[name].text(parameters)
        if not self._writer.acquire(blocking=False):
            raise WouldWait
        try:
            connection = self._connections.take()
            try:
                with step("change", name), step("commit", DATABASE):
                    return cast("SqliteConnection", connection).change_at_once(text, parameters)
            finally:
                self._connections.put_back(connection)
        finally:
            self._writer.release()

    def synced(self) -> None:
        connection = self._connections.take()
        try:
            cast("SqliteConnection", connection).sync_log()
        finally:
            self._connections.put_back(connection)

    def close(self) -> None:
        super().close()
        for owner in list(self._owners):
            self.withdraw(owner)
        self._hold.release()

    def announce(self, owner: str) -> None:
        with translated(DATABASE):
            self._require_folder()
            for path in self._path.parent.glob(f"{self._path.name}-owner-*"):
                _remove_unless_locked(path)
            lock = try_lock(self._owner_file(owner))
        if lock is None:
            raise StoreUnavailable(DATABASE, "somebody holds the file of this process")
        self._owners[owner] = lock

    def withdraw(self, owner: str) -> None:
        lock = self._owners.pop(owner, None)
        if lock is not None:
            remove_lock(self._owner_file(owner))
            lock.release()

    def has_died(self, owner: str) -> bool:
        with translated(DATABASE):
            return not is_locked(self._owner_file(owner))

    def hold(self) -> bool:
        with translated(DATABASE):
            self._require_folder()
            return self._hold.take()

    def holder(self) -> str | None:
        with translated(DATABASE):
            return self._hold.holder()

    def _prepare(self) -> SqliteConnection:
        """Make the file where it is missing, and bring its schema up to date.

        Raises:
            NotAStore: it is none of ours, or would be taken for a file that belongs to a database beside it.
        """
        self._require_ours()
        if not self._path.exists():
            # Closing a file drops the locks that this process has on it, so one that may be in use is not opened here.
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, _FILE_MODE))
            atomic.sync_folder(self._path.parent)
        connection = self._open()
        try:
            connection.run("PRAGMA journal_mode = WAL")
            connection.begin(writing=True)
            migrate(connection, load_migrations(SQLITE))
            connection.commit()
            self.require_whole(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _require_ours(self) -> None:
        if is_to_be_made(self._path):
            if has_taken_name(self._path):
                raise NotAStore(DATABASE, "its name is that of a file which is kept beside another")
            return
        with suppress(sqlite3.Error):  # which are told when it is opened
            found = tables(self._path)
            if "wf_schema" not in found and (other := stranger(found)) is not None:
                raise NotAStore(DATABASE, f"it belongs to another program and has a table {other!r}")

    def _require_folder(self) -> None:
        """Make the folder, unless it was there before: then it does not come back by itself."""
        if self._ready:
            self._place.require()
        else:
            atomic.make_folder(self._path.parent)

    def _open(self) -> SqliteConnection:
        self._place.require()
        connection = SqliteConnection(self._path, self._place)
        for setting in _SETTINGS:
            connection.run(setting)
        return connection

    def _beside(self, suffix: str) -> Path:
        return self._path.with_name(f"{self._path.name}-{suffix}")

    def _owner_file(self, owner: str) -> Path:
        return self._beside(f"owner-{owner}")


def _code(error: sqlite3.Error) -> int:
    """Tell what kind of error it is."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & _PRIMARY


def _now() -> int:
    """Give the milliseconds since this machine was started, its sleep left out: neither sleep nor a clock ends a lease.

    A lease from before that start looks fresh, but its owner is seen to have died.
    """
    return time.monotonic_ns() // 1_000_000


def _remove_unless_locked(path: Path) -> None:
    """Remove the file of an owner that has died."""
    with suppress(FileNotFoundError):
        lock = try_lock(path)
        if lock is not None:
            remove_lock(path)
            lock.release()
