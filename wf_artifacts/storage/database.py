"""Transactions of a database, shared by the stores that are kept in it.

What SQLite and PostgreSQL do differently is in `sqlite` and `postgres`; statements are in `sql`.
"""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from types import TracebackType

from anyio import CapacityLimiter

from wf_artifacts.errors import StoreUnavailable, UnfinishedCopy
from wf_artifacts.storage.connections import Connection, Row
from wf_artifacts.storage.statements import NO_PARAMETERS, Dialect, Parameters, Statement, Value, load_statements
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

    def ask(self, text: str) -> list[Row]:
        """Give the rows that a text asks for, which is written for this kind of database."""
        return self._connection.run(text).rows

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
    """A database, connected to when it is first used. Any thread may use it.

    With `to_copy_to` it may hold a part of a copy (`unfinished`). Any other is refused then, whether it connects or
    is about to change something: it may have been marked since.
    """

    checks_types: bool
    """Whether it refuses values of another type than their column has."""

    def __init__(
        self, dialect: Dialect, threads: int, turn: "threading.Lock | None" = None, *, to_copy_to: bool = False
    ) -> None:
        self.threads = CapacityLimiter(threads)
        self._connections = _Connections(self.connect)
        self._statements = load_statements(dialect)
        self._turn = turn
        """Held by whoever writes, where the threads of one process take turns at that."""
        self._to_copy_to = to_copy_to

    def reading(self) -> AbstractContextManager[Transaction]:
        """See the database as it is at one instant."""
        return _Open(self._connections, self._statements, None, None, writing=False, sync=False)

    def writing(self, *, sync: bool = True) -> AbstractContextManager[Transaction]:
        """Change the database: all of it is done when the block ends, or nothing where it raises.

        With `sync` it is on disk then; without, it survives this process, but perhaps not the machine.

        Raises:
            UnfinishedCopy: it holds a part of a copy; nothing is changed.
        """
        look = None if self._to_copy_to else self._require_whole_throughout
        return _Open(self._connections, self._statements, self._turn, look, writing=True, sync=sync)

    def change(self, name: str, parameters: Parameters, *, sync: bool = True) -> int:
        """Change what is claimed with one statement and nothing else, as `writing`; give how many rows it changed.

        It does not look for the mark of a copy. What is claimed is there, and whoever marks a database sees it and
        leaves the database alone; in one that was marked already, nobody but the copy claims anything.
        """
        with _Open(self._connections, self._statements, self._turn, None, writing=True, sync=sync) as transaction:
            return transaction.change(name, **parameters)

    def require_whole(self, connection: Connection) -> None:
        """Be sure that the database that was just connected to holds no part of a copy."""
        if not self._to_copy_to and connection.run(self._statements["unfinished"].text(NO_PARAMETERS)).rows:
            raise UnfinishedCopy(DATABASE)

    def _require_whole_throughout(self, connection: Connection) -> None:
        """Be sure that the database holds no part of a copy before the transaction that began has ended."""
        if connection.run(self._statements["unfinished_to_writers"].text(NO_PARAMETERS)).rows:
            raise UnfinishedCopy(DATABASE)

    def close(self) -> None:
        """Close every connection. What is under way is finished first, or refused."""
        self._connections.close()

    @abstractmethod
    def change_at_once(self, name: str, parameters: Parameters) -> int:
        """Do the same as `change`, unless it takes longer than the disk. It is on disk once `synced` has returned.

        Raises:
            WouldWait: somebody else is writing, or the database is not on this machine; nothing was changed.
        """

    @abstractmethod
    def synced(self) -> None:
        """Wait until what `change_at_once` changed is on disk."""

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
    def hold(self) -> bool:
        """Be the only one that copies to it, until it is closed or this process ends. False where somebody is that.

        Where the hold is lost before, whatever is to be written afterwards is refused.
        """

    @abstractmethod
    def holder(self) -> str | None:
        """Name who holds it, the same for every address of it. None where nobody does."""

    @abstractmethod
    def connect(self) -> Connection:
        """Open a connection to a database whose schema is that of this version.

        Raises:
            StoreUnavailable: the database cannot be reached.
            UnfinishedCopy: it holds a part of a copy.
            FormatTooNew: a newer version has changed its schema.
        """


class _Connections:
    """The connections to one database that nobody uses now."""

    def __init__(self, connect: Callable[[], Connection]) -> None:
        self._connect = connect
        self._idle: list[Connection] = []
        self._changing = threading.Lock()
        self._closed = False

    def begin(self, *, writing: bool, sync: bool) -> Connection:
        """Begin a transaction. Connections that broke while nobody used them are passed over."""
        while (connection := self._take_idle()) is not None:
            try:
                connection.begin(writing=writing, sync=sync)
                return connection
            except StoreUnavailable:
                if connection.usable:
                    self.put_back(connection)
                    raise
                connection.close()
        connection = self._connect()
        try:
            connection.begin(writing=writing, sync=sync)
        except BaseException:
            connection.close()
            raise
        return connection

    def put_back(self, connection: Connection) -> None:
        """Let others use a connection whose transaction has ended."""
        with self._changing:
            if not self._closed:
                self._idle.append(connection)
                return
        connection.close()

    def take(self) -> Connection:
        """Give a connection that is in no transaction."""
        return self._take_idle() or self._connect()

    def give_up(self, connection: Connection) -> None:
        """Let what a transaction changed come to nothing."""
        try:
            connection.rollback()
        except WfError:
            connection.close()
        else:
            self.put_back(connection)

    def close(self) -> None:
        with self._changing:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _take_idle(self) -> Connection | None:
        with self._changing:
            if self._closed:
                raise StoreUnavailable(DATABASE, "it was closed")
            return self._idle.pop() if self._idle else None


class _Open(AbstractContextManager[Transaction]):
    """A transaction. A class, for a run begins one with each of its steps."""

    def __init__(
        self,
        connections: _Connections,
        statements: dict[str, Statement],
        turn: "threading.Lock | None",
        look: Callable[[Connection], None] | None,
        *,
        writing: bool,
        sync: bool,
    ) -> None:
        self._connections = connections
        self._statements = statements
        self._turn = turn
        self._look = look
        """Refuses to go on with what was begun."""
        self._writing = writing
        self._sync = sync

    def __enter__(self) -> Transaction:
        if self._turn is not None:
            self._turn.acquire()
        try:
            self._connection = self._connections.begin(writing=self._writing, sync=self._sync)
            self._look_first()
        except BaseException:
            self._let_others()
            raise
        return Transaction(self._connection, self._statements)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._commit()
            else:
                self._connections.give_up(self._connection)
        finally:
            self._let_others()

    def _look_first(self) -> None:
        if self._look is not None:
            try:
                self._look(self._connection)
            except BaseException:
                self._connections.give_up(self._connection)
                raise

    def _commit(self) -> None:
        try:
            with step("commit", DATABASE) if self._writing else nullcontext():
                self._connection.commit()
        except BaseException:
            self._connections.give_up(self._connection)
            raise
        self._connections.put_back(self._connection)

    def _let_others(self) -> None:
        if self._turn is not None:
            self._turn.release()
