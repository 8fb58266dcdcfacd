"""Transactions of a database, shared by the stores that are kept in it.

What SQLite and PostgreSQL do differently is in `sqlite` and `postgres`; statements are in `sql`.
"""

import threading
from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from contextlib import contextmanager, nullcontext

from anyio import CapacityLimiter

from wf_artifacts.errors import StoreUnavailable
from wf_artifacts.storage.connections import Connection, Row, WouldWait
from wf_artifacts.storage.statements import Dialect, Parameters, Statement, Value, load_statements
from wf_artifacts.storage.steps import step
from wf_core.errors import WfError

DATABASE = "the database"
"""What errors are about where they are about no row."""


class Transaction:
    """Statements by name, between the beginning and the end of a transaction."""

    def __init__(self, connection: Connection, statements: dict[str, Statement]) -> None:
        self._connection = connection
        self._statements = statements

    def rows(self, name: str, **parameters: Value) -> list[Row]:
        """Give the rows that a statement asks for."""
        return self._connection.run(self._statements[name].text(parameters), parameters).rows

    def row(self, name: str, **parameters: Value) -> Row | None:
        """Give the only row that a statement asks for, or None where there is none."""
        rows = self.rows(name, **parameters)
        return rows[0] if rows else None

    def change(self, name: str, **parameters: Value) -> int:
        """Run a statement that changes rows, and give how many."""
        with step("change", name):
            return self._connection.run(self._statements[name].text(parameters), parameters).changed

    def change_many(self, name: str, rows: Sequence[Parameters]) -> None:
        """Run a statement that changes rows, once with each of the rows of parameters."""
        if rows:
            with step("change", name):
                self._connection.run_many(self._statements[name].text(rows[0]), rows)


class Database(ABC):
    """A database, connected to when it is first used. Any thread may use it."""

    def __init__(self, dialect: Dialect, threads: int) -> None:
        self.threads = CapacityLimiter(threads)
        self._statements = load_statements(dialect)
        self._idle: list[Connection] = []
        self._changing_idle = threading.Lock()
        self._closed = False

    @contextmanager
    def reading(self) -> Generator[Transaction]:
        """See the database as it is at one instant."""
        with self._transaction(writing=False, sync=False) as transaction:
            yield transaction

    @contextmanager
    def writing(self, *, sync: bool = True, at_once: bool = False) -> Generator[Transaction]:
        """Change the database: all of it is done when the block ends, or nothing where it raises.

        With `sync` it is on disk then; without, it survives this process, but perhaps not the machine.

        Raises:
            WouldWait: `at_once`, and that takes longer than the disk: somebody else is writing, or the database is not
                on this machine.
        """
        with self._transaction(writing=True, sync=sync, at_once=at_once) as transaction:
            yield transaction

    def close(self) -> None:
        """Close every connection. What is under way is finished first, or refused."""
        with self._changing_idle:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    @abstractmethod
    def announce(self, owner: str) -> None:
        """Let other processes see that an owner of claims is there as long as this process is."""

    @abstractmethod
    def withdraw(self, owner: str) -> None:
        """Let an owner be gone."""

    @abstractmethod
    def has_died(self, owner: str) -> bool:
        """Tell whether the process of an owner has ended for certain."""

    @abstractmethod
    def connect(self) -> Connection:
        """Open a connection to a database whose schema is that of this version.

        Raises:
            StoreUnavailable: the database cannot be reached.
            FormatTooNew: a newer version has changed its schema.
        """

    @contextmanager
    def _transaction(self, *, writing: bool, sync: bool, at_once: bool = False) -> Generator[Transaction]:
        connection = self._begin(writing=writing, sync=sync, at_once=at_once)
        try:
            yield Transaction(connection, self._statements)
            with step("commit", DATABASE) if writing else nullcontext():
                connection.commit()
        except BaseException:
            self._give_up(connection)
            raise
        self._put_back(connection)

    def _begin(self, *, writing: bool, sync: bool, at_once: bool) -> Connection:
        """Begin a transaction. Connections that broke while nobody used them are passed over."""
        while (connection := self._take_idle()) is not None:
            try:
                connection.begin(writing=writing, sync=sync, at_once=at_once)
                return connection
            except WouldWait:
                self._put_back(connection)
                raise
            except StoreUnavailable:
                if connection.usable:
                    self._put_back(connection)
                    raise
                connection.close()
        connection = self.connect()
        try:
            connection.begin(writing=writing, sync=sync, at_once=at_once)
        except BaseException:
            connection.close()
            raise
        return connection

    def _take_idle(self) -> Connection | None:
        with self._changing_idle:
            if self._closed:
                raise StoreUnavailable(DATABASE, "it was closed")
            return self._idle.pop() if self._idle else None

    def _put_back(self, connection: Connection) -> None:
        with self._changing_idle:
            if not self._closed:
                self._idle.append(connection)
                return
        connection.close()

    def _give_up(self, connection: Connection) -> None:
        try:
            connection.rollback()
        except WfError:
            connection.close()
        else:
            self._put_back(connection)
