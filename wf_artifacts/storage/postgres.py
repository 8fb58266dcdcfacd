"""A database in PostgreSQL, shared by processes of any number of machines. Needs the extra `postgres`.

An owner of claims on another machine cannot be seen to end: it is gone when its lease has run out by the clock of the
server. A process that stops in the middle of a transaction is thrown out of it, so that nobody waits for it for ever.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from typing import Final

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from wf_artifacts.errors import InvalidStoreUrl, StoreFull, StoreUnavailable
from wf_artifacts.storage.connections import Answer, Misunderstood, WouldWait
from wf_artifacts.storage.database import DATABASE, Database
from wf_artifacts.storage.migrations import migrate
from wf_artifacts.storage.statements import NO_PARAMETERS, Dialect, Parameters, load_migrations
from wf_core.errors import WfError

POSTGRES: Final = Dialect("postgres", parameter=r"%(\1)s")

_CONNECTIONS = 4
"""Of one process. A server takes a hundred by default, from everybody."""
_DEFAULTS = {"connect_timeout": 10, "application_name": "wf-mcp"}
_PATIENCE = "SET LOCAL lock_timeout = '15s'; SET LOCAL idle_in_transaction_session_timeout = '15s'"
_BEGIN_READING = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_BEGIN_WRITING = f"BEGIN ISOLATION LEVEL READ COMMITTED; {_PATIENCE}"
"""Whatever the server does by default: what waited for a lock sees what was committed meanwhile."""
_BEGIN_UNSYNCED = f"{_BEGIN_WRITING}; SET LOCAL synchronous_commit = off"
_NOT_ITS_TABLES: Final = (
    psycopg.errors.UndefinedTable, psycopg.errors.UndefinedColumn, psycopg.errors.DuplicateTable,
    psycopg.errors.DuplicateColumn, psycopg.errors.DuplicateObject, psycopg.errors.WrongObjectType,
)  # fmt: skip
_LOCK_SCHEMA = "SELECT pg_advisory_xact_lock(8675022)"

_THIS_STORE = "'wf_locks'::regclass::oid::int"
"""Its table tells it from another store in another schema of the database."""
_TRY_HOLD = f"SELECT pg_try_advisory_lock(8675023, {_THIS_STORE})"
_LET_GO = f"SELECT pg_advisory_unlock(8675023, {_THIS_STORE})"
_HOLDER = """
SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted
AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
AND classid = 8675023 AND objid = 'wf_locks'::regclass AND objsubid = 2"""
_STAY = """
SELECT set_config(name, value, false)
FROM (VALUES ('idle_session_timeout', '0'), ('tcp_keepalives_idle', '30'), ('tcp_keepalives_interval', '10'),
    ('tcp_keepalives_count', '3')) AS wanted (name, value) JOIN pg_settings USING (name)"""
"""The server ends no connection because nothing is said, and soon the one of a machine that is gone."""
_AWAIT_WRITERS = f"SELECT pg_advisory_xact_lock(8675024, {_THIS_STORE})"
_REQUIRE_HOLD = f"""; DO $$ BEGIN
PERFORM pg_advisory_xact_lock_shared(8675024, {_THIS_STORE});
IF NOT EXISTS ({_HOLDER} AND pid = %d) THEN
RAISE EXCEPTION 'the connection that kept others from copying to it was lost';
END IF; END $$"""
"""Begins what is written under a hold. The next holder has waited for it; what begins later sees the hold lost."""


class PostgresConnection:
    """One connection to the server. Whatever it changes begins with what `guard` gives."""

    def __init__(self, address: str, secret: str, guard: Callable[[], str]) -> None:
        self._secret = secret
        self._guard = guard
        with self._translated():
            self._driver = psycopg.Connection.connect(address, autocommit=True)

    @property
    def usable(self) -> bool:
        return not self._driver.closed

    def begin(self, *, writing: bool, sync: bool = True) -> None:
        try:
            self.run((_BEGIN_WRITING if sync else _BEGIN_UNSYNCED) + self._guard() if writing else _BEGIN_READING)
        except WfError:
            with suppress(WfError):
                self.rollback()
            raise

    def run(self, text: str, parameters: Parameters = NO_PARAMETERS) -> Answer:
        # Without parameters several statements may come at once, which cannot be prepared.
        with self._translated(), self._driver.cursor(binary=bool(parameters)) as cursor:
            cursor.execute(text.encode(), parameters or None, prepare=None if parameters else False)
            rows = cursor.fetchall() if cursor.description else []
            return Answer(rows, cursor.rowcount)

    def run_many(self, text: str, rows: Sequence[Parameters]) -> None:
        with self._translated(), self._driver.cursor() as cursor:
            cursor.executemany(text.encode(), rows)

    def commit(self) -> None:
        self.run("COMMIT")

    def rollback(self) -> None:
        self.run("ROLLBACK")

    def close(self) -> None:
        with suppress(psycopg.Error):
            self._driver.close()

    @contextmanager
    def _translated(self) -> Generator[None]:
        try:
            yield
        except psycopg.errors.DiskFull as error:
            raise StoreFull(DATABASE, self._reason(error)) from error
        except _NOT_ITS_TABLES as error:
            raise Misunderstood(DATABASE, self._reason(error)) from error
        except psycopg.Error as error:
            raise StoreUnavailable(DATABASE, self._reason(error)) from error

    def _reason(self, error: psycopg.Error) -> str:
        """Say in one line what the server or the driver said, without the password."""
        reason = error.diag.message_primary or str(error).strip().replace("\n", " ") or type(error).__name__
        return reason.replace(self._secret, "[redacted]") if self._secret else reason


class PostgresDatabase(Database):
    """The database behind a `postgresql://` address.

    Raises:
        InvalidStoreUrl: the address cannot be understood.
    """

    checks_types = True

    def __init__(self, url: str, *, to_copy_to: bool = False) -> None:
        super().__init__(POSTGRES, threads=_CONNECTIONS, to_copy_to=to_copy_to)
        try:
            settings = _DEFAULTS | conninfo_to_dict(url)
        except psycopg.Error:
            # What the driver says repeats the address, and the password in it.
            raise InvalidStoreUrl("PostgreSQL cannot understand it") from None
        self._address = make_conninfo("", **settings)
        self._secret = str(settings.get("password", ""))
        self._ready = False
        self._holding: PostgresConnection | None = None
        """Holds the store, as long as it is open, where others may not copy to it."""
        self._guard = ""

    def connect(self) -> PostgresConnection:
        connection = PostgresConnection(self._address, self._secret, lambda: self._guard)
        if not self._ready:
            try:
                self._prepare(connection)
                self.require_whole(connection)
            except BaseException:
                connection.close()
                raise
            self._ready = True
        return connection

    def change_at_once(self, name: str, parameters: Parameters) -> int:  # noqa: ARG002
        """Refuse: a server has to be waited for."""
        raise WouldWait

    def synced(self) -> None:
        """Do nothing: a server is waited for."""

    def announce(self, owner: str) -> None:
        """Do nothing: others only see leases."""

    def withdraw(self, owner: str) -> None:
        """Do nothing: the lease is given up by itself."""

    def has_died(self, owner: str) -> bool:  # noqa: ARG002
        """Say no: nobody can know."""
        return False

    def hold(self) -> bool:
        """Hold it by a lock of a session, which ends with its connection; so the connection stays open."""
        connection = self.connect()
        try:
            ((taken,),) = connection.run(_TRY_HOLD).rows
            if taken:
                connection.run(_STAY)
                connection.begin(writing=True)
                connection.run(_AWAIT_WRITERS)
                connection.commit()
                ((number,),) = connection.run("SELECT pg_backend_pid()").rows
                self._guard = _REQUIRE_HOLD % number
                self._holding = connection
        finally:
            if self._holding is not connection:
                connection.close()
        return taken

    def holder(self) -> str | None:
        connection = self.connect()
        try:
            return next((str(number) for (number,) in connection.run(_HOLDER).rows), None)
        finally:
            connection.close()

    def close(self) -> None:
        super().close()
        if self._holding is not None:
            # The server takes a moment to notice that a connection was closed.
            with suppress(WfError):
                self._holding.run(_LET_GO)
            self._holding.close()

    @staticmethod
    def _prepare(connection: PostgresConnection) -> None:
        """Bring the schema up to date."""
        connection.begin(writing=True)
        connection.run(_LOCK_SCHEMA)
        migrate(connection, load_migrations(POSTGRES))
        connection.commit()
