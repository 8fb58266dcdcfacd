"""A SQLite file that can be made anew from what it was derived from, shared by every process that opens the home.

    <folder>/000001-3f9a1b2c.db     the one with the highest number counts
    <folder>/.lock                  shared by those who change what it is derived from, held alone by who makes it anew

One that is missing, damaged, or of another version is made anew, under a name that was never used: processes that have
the old one open go on with its files by name.
"""

import re
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import Final, TypeVar

from wf_artifacts.errors import StoreUnavailable
from wf_artifacts.storage import atomic
from wf_artifacts.storage.connections import Connection, Row
from wf_artifacts.storage.home import Home
from wf_artifacts.storage.locks import FileLock, locked, share_lock, try_lock_at_once
from wf_artifacts.storage.sqlite import SqliteConnection
from wf_artifacts.storage.statements import NO_PARAMETERS, Parameters
from wf_artifacts.storage.steps import step
from wf_core.errors import StateCorrupt, WfError

T = TypeVar("T")

Statement = tuple[str, Parameters]
Statements = Sequence[Statement]

_PATIENCE_SECONDS = 300
"""Making a large one anew takes tens of seconds; everybody else waits for it."""
_ATTEMPTS: Final = 3
"""How often one that cannot be used is made anew before giving up."""
_MOST_LOG_BYTES: Final = 4 * 1024 * 1024
_FILE = re.compile(r"\d{6,}-[0-9a-f]{8}\.db")


class DerivedDatabase:
    """A derived file, opened when it is first used. Any thread may use it.

    Every method may raise StoreUnavailable or StoreFull.
    """

    def __init__(
        self, home: Home, folder: Path, *, version: int, schema: Sequence[str], fill: Callable[[Connection], None]
    ) -> None:
        """`fill` enters everything that there is into a new file of `schema`, while nobody changes it."""
        self._home = home
        self._folder = folder
        self._version = version
        self._schema = schema
        self._fill = fill
        self._using = threading.Lock()
        self._opened: tuple[Path, SqliteConnection] | None = None

    def rows(self, text: str, parameters: Parameters = NO_PARAMETERS) -> list[Row]:
        """Give the rows that a statement asks for."""
        for _ in range(_ATTEMPTS):
            try:
                return self._use(self._current(), lambda connection: connection.run(text, parameters).rows)
            except _Unusable as error:
                self._make_anew(error.path)
        raise self._hopeless()

    @contextmanager
    def changing(self, *, before: Statements, after: Statements, unless: Statement | None = None) -> Generator[None]:
        """Change what the file is derived from.

        What `before` does is on disk when that begins; it is left out where `unless` gives a row. `after` is run when
        that is done, and left out where it fails; what it did may be lost with the machine.

        Raises:
            UnfinishedCopy: the home holds a part of a copy; nothing was done.
        """
        for _ in range(_ATTEMPTS):
            lock = self._share()
            try:
                self._home.require_whole()
                path = self._current()  # nobody makes another in its place now
                unusable = self._try(path, before, unless)
                if unusable is None:
                    yield
                    if after:
                        with suppress(_Unusable, WfError, OSError):
                            self._write(path, after, sync=False)
                    return
            finally:
                lock.release()
            self._make_anew(unusable.path)
        raise self._hopeless()

    @contextmanager
    def alone(self) -> Generator[bool]:
        """Tell whether nobody is changing anything; then nobody does until the block ends."""
        with self._home.translated(self._folder):
            atomic.make_folder(self._folder)
            lock = try_lock_at_once(self._lock)
        try:
            yield lock is not None
        finally:
            if lock is not None:
                lock.release()

    def settle(self, statements: Statements) -> None:
        """Bring rows up to date. Only while `alone`; what it did may be lost with the machine."""
        with suppress(_Unusable):
            self._write(self._current(), statements, sync=False)

    def make_anew(self) -> None:
        """Make another in its place, whatever it says."""
        self._make_anew(self._current())

    def close(self) -> None:
        """Close the file. It is opened again when it is used again."""
        with self._using:
            self._drop()

    @property
    def _lock(self) -> Path:
        return self._folder / ".lock"

    def _share(self) -> FileLock:
        with self._home.translated(self._folder):
            atomic.make_folder(self._folder)
            return share_lock(self._lock, patience_seconds=_PATIENCE_SECONDS)

    def _try(self, path: Path | None, statements: Statements, unless: Statement | None) -> "_Unusable | None":
        try:
            if unless is None or not self._use(path, lambda connection: connection.run(*unless).rows):
                self._write(path, statements, sync=True)
        except _Unusable as error:
            return error
        return None

    def _write(self, path: Path | None, statements: Statements, *, sync: bool) -> None:
        def work(connection: SqliteConnection) -> None:
            connection.begin(writing=True, sync=sync)
            try:
                for text, parameters in statements:
                    connection.run(text, parameters)
                with step("commit", self._folder.name):
                    connection.commit()
            except BaseException:
                with suppress(WfError):
                    connection.rollback()
                raise

        self._use(path, work)

    def _use(self, path: Path | None, work: Callable[[SqliteConnection], T]) -> T:
        """Work with the file that counts.

        Raises:
            _Unusable: there is none, or it cannot be used.
        """
        if path is None:
            raise _Unusable(None)
        with self._using:
            try:
                return work(self._connection(path))
            except StateCorrupt as error:
                self._drop()
                raise _Unusable(path) from error

    def _connection(self, path: Path) -> SqliteConnection:
        if self._opened is not None and self._opened[0] == path:
            return self._opened[1]
        self._drop()
        connection = SqliteConnection(path)
        self._opened = path, connection
        if connection.run("PRAGMA user_version").rows != [(self._version,)]:
            self._drop()
            raise _Unusable(path)
        connection.run(f"PRAGMA journal_size_limit = {_MOST_LOG_BYTES}")
        for name in self._home.files(self._folder):
            # What SQLite keeps beside a file begins with its name, so those of lower numbers go with it.
            if _FILE.match(name) and _number(name) < _number(path.name):
                atomic.unlink(self._folder / name)
        return connection

    def _drop(self) -> None:
        if self._opened is not None:
            self._opened[1].close()
            self._opened = None

    def _current(self) -> Path | None:
        """Give the file that counts."""
        names = filter(_FILE.fullmatch, self._home.files(self._folder))
        latest = max(names, key=_number, default=None)
        return None if latest is None else self._folder / latest

    def _make_anew(self, unusable: Path | None) -> None:
        """Make another in the place of the one that cannot be used, unless somebody has."""
        with self._home.translated(self._folder):
            atomic.make_folder(self._folder)
            with locked(self._lock, patience_seconds=_PATIENCE_SECONDS):
                if self._current() == unusable:
                    number = 1 if unusable is None else _number(unusable.name) + 1
                    self._make(self._folder / f"{number:06}-{token_hex(4)}.db")

    def _make(self, path: Path) -> None:
        for name in self._home.files(self._folder):
            # Somebody was killed while making one; what SQLite kept beside it begins with its name.
            if name.startswith(".") and name != self._lock.name:
                atomic.unlink(self._folder / name)
        made = atomic.temporary(path)
        atomic.write_file(made, b"")
        connection = SqliteConnection(made)
        try:
            # Nobody reads it before it has its name, so it is brought to disk once.
            connection.begin(writing=True, sync=False)
            for statement in (*self._schema, f"PRAGMA user_version = {self._version}"):
                connection.run(statement)
            self._fill(connection)
            connection.commit()
            connection.run("PRAGMA journal_mode = WAL")
        finally:
            connection.close()
        atomic.publish_file(made, path)

    def _hopeless(self) -> StoreUnavailable:
        document = self._home.document(self._folder)
        return StoreUnavailable(document, "it was made anew again and again, and each time it could not be used")


def _number(name: str) -> int:
    return int(name.partition("-")[0])


class _Unusable(Exception):
    """There is no file that can be used."""

    def __init__(self, path: Path | None) -> None:
        super().__init__()
        self.path = path
