"""A database is brought to the schema of this version, whole, once, and never one that is newer."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.wf_artifacts.conftest import Open
from tests.wf_artifacts.postgres import PostgresServer
from wf_artifacts.errors import StoreUnavailable
from wf_artifacts.storage.connections import Connection
from wf_artifacts.storage.database import Database
from wf_artifacts.storage.migrations import migrate
from wf_core.errors import FormatTooNew

OLD = [["CREATE TABLE things (name TEXT)", "INSERT INTO things VALUES ('old')"]]
NEW = [*OLD, ["CREATE TABLE more (name TEXT)", "INSERT INTO more SELECT name FROM things"]]


@pytest.fixture
def postgres(postgres_server: PostgresServer) -> str:
    """The address of a database without a schema."""
    postgres_server.forget_schema()
    return postgres_server.url


@pytest.fixture
def connection(database: Database) -> Iterator[Connection]:
    opened = database.connect()
    yield opened
    opened.close()


def bring(connection: Connection, migrations: list[list[str]]) -> None:
    connection.begin(writing=True)
    migrate(connection, migrations)
    connection.commit()


def values(connection: Connection, table: str) -> list[object]:
    return [value for (value,) in connection.run(f"SELECT * FROM {table}").rows]


@pytest.fixture
def bare(connection: Connection) -> Connection:
    """A connection to a database to which no migration was applied."""
    connection.run("DROP TABLE wf_schema")
    return connection


def test_an_old_schema_gains_what_it_lacks_and_keeps_its_rows(bare: Connection) -> None:
    bring(bare, OLD)
    bring(bare, NEW)
    assert values(bare, "more") == ["old"]
    assert values(bare, "wf_schema") == [2]


def test_a_schema_that_is_up_to_date_is_left_alone(bare: Connection) -> None:
    bring(bare, NEW)
    bring(bare, NEW)
    assert values(bare, "things") == ["old"]


def test_a_migration_that_fails_leaves_the_schema_of_before(bare: Connection) -> None:
    bring(bare, OLD)
    with pytest.raises(StoreUnavailable):
        bring(bare, [*OLD, ["CREATE TABLE more (name TEXT)", "INSERT INTO nothing VALUES (1)"]])
    bare.rollback()
    assert values(bare, "wf_schema") == [1]
    bring(bare, NEW)
    assert values(bare, "more") == ["old"]


def test_a_newer_schema_is_refused(connection: Connection, open_database: Open) -> None:
    connection.run("UPDATE wf_schema SET version = 99")
    with pytest.raises(FormatTooNew) as refused, open_database().reading():
        pass
    assert refused.value.found == 99
    assert "database" in refused.value.message


def test_many_that_open_an_empty_database_at_once_all_find_the_schema(open_database: Open) -> None:
    databases = [open_database() for _ in range(8)]

    def look(database: Database) -> int:
        with database.reading() as transaction:
            return len(transaction.rows("leases"))

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(look, databases)) == [0] * 8
