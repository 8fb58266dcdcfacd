"""A database is brought to the schema of this version, whole, once, and never one that is newer."""

from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from zlib import crc32

import pytest

from tests.wf_artifacts.conftest import Open
from tests.wf_artifacts.databases import database_at, run_sql
from tests.wf_artifacts.postgres import PostgresServer
from tests.wf_artifacts.samples import checkpoint, following, inputs, record, start_and_release
from wf_artifacts.errors import StoreUnavailable
from wf_artifacts.runs.rules import journal_line
from wf_artifacts.runs.sql import SqlRuns
from wf_artifacts.storage import postgres as postgres_module
from wf_artifacts.storage import sqlite
from wf_artifacts.storage.connections import Connection
from wf_artifacts.storage.database import Database
from wf_artifacts.storage.migrations import migrate
from wf_artifacts.storage.statements import Dialect, load_migrations
from wf_core.errors import FormatTooNew, StateCorrupt

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
    with pytest.raises(StateCorrupt, match="document wf_schema is damaged: it says 1"):
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


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        ("DELETE FROM wf_schema", "it has lost its row"),
        ("UPDATE wf_schema SET version = 0", "it says 0"),
        ("UPDATE wf_schema SET version = 3", "it says 3"),
        ("UPDATE wf_schema SET version = version - 1", "it says"),
        ("UPDATE wf_schema SET version = -1", "it holds -1"),
        ("INSERT INTO wf_schema VALUES (3)", "it holds"),
    ],
)
def test_a_number_that_is_not_that_of_the_tables_is_damage(
    connection: Connection, open_database: Open, damage: str, reason: str
) -> None:
    connection.run(damage)
    with pytest.raises(StateCorrupt, match=f"document wf_schema is damaged: {reason}"), open_database().reading():
        pass


def test_a_number_that_is_none_is_damage(sqlite: str) -> None:
    database = database_at(sqlite)
    run_sql(database, "UPDATE wf_schema SET version = 'x'")
    database.close()
    with pytest.raises(StateCorrupt, match="it holds 'x'"), database_at(sqlite).reading():
        pass


def test_many_that_open_an_empty_database_at_once_all_find_the_schema(open_database: Open) -> None:
    databases = [open_database() for _ in range(8)]

    def look(database: Database) -> int:
        with database.reading() as transaction:
            return len(transaction.rows("leases"))

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(look, databases)) == [0] * 8


@contextmanager
def schema_before(beginning: str, monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    """Let databases have the schema before the first migration with a statement that begins so."""

    def load(dialect: Dialect) -> list[list[str]]:
        migrations = load_migrations(dialect)
        changed = [any(one.startswith(beginning) for one in statements) for statements in migrations]
        return migrations[: changed.index(True)]

    with monkeypatch.context() as old:
        for module in (sqlite, postgres_module):
            old.setattr(module, "load_migrations", load)
        yield


@pytest.mark.anyio
async def test_a_journal_of_single_inputs_is_read_as_it_was(
    open_database: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An input and each of its trace entries were rows of their own."""
    begun = record()
    given = inputs(begun, 3, entries=2)
    with schema_before("UPDATE wf_journal SET line", monkeypatch):
        database = open_database()
        runs = SqlRuns(database)
        await start_and_release(runs, begun)
        for one in given:
            first = begun.trace_count + 2 * (one.position - 1)
            run_sql(
                database,
                "INSERT INTO wf_journal SELECT number, :position, :steps, :line, :first, 2 FROM wf_runs",
                position=one.position, steps=one.steps_executed, line=one.line, first=first,
            )  # fmt: skip
            for number, entry in enumerate(one.trace, first):
                text = "INSERT INTO wf_trace SELECT number, :number, :entry FROM wf_runs"
                run_sql(database, text, number=number, entry=entry)
        run_sql(
            database,
            "UPDATE wf_run_heads SET trace_count = 6, steps_executed = 3, position = 3, journal_bytes = :length",
            length=sum(len(journal_line(one)) for one in given),
        )
        runs.close()
    runs = SqlRuns(open_database())
    assert await runs.load_journal(begun.run_id) == [journal_line(one) for one in given]
    assert [entry["index"] for entry in await runs.read_trace(begun.run_id, 0, 9)] == list(range(6))
    assert list(runs.faults()) == []
    async with await runs.claim(begun.run_id) as claim:
        await runs.append(claim, inputs(begun, entries=2, since=3), sync=True)
        stopped = following(await runs.load(begun.run_id), entries=0)
        await runs.commit(claim, stopped, checkpoint=checkpoint(stopped))
    assert [entry["index"] for entry in await runs.read_trace(begun.run_id, 0, 20)] == list(range(8))
    runs.close()


@pytest.mark.anyio
async def test_a_journal_goes_on_from_a_head_that_moved_with_each_input(
    open_database: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = record()
    lines = [journal_line(one) for one in inputs(begun, 2, entries=2)]
    with schema_before("CREATE VIEW wf_run_progress", monkeypatch):
        database = open_database()
        runs = SqlRuns(database)
        await start_and_release(runs, begun)
        run_sql(
            database,
            """INSERT INTO wf_journal (run, position, steps_executed, lines, crc32, first_entry, entries)
            SELECT number, 2, 2, :lines, :crc32, 0, 4 FROM wf_runs""",
            lines=b"\n".join(lines), crc32=crc32(b"\n".join(lines)),
        )  # fmt: skip
        run_sql(
            database,
            "UPDATE wf_run_heads SET trace_count = 4, steps_executed = 2, position = 2, journal_bytes = :length",
            length=sum(map(len, lines)),
        )
        runs.close()
    runs = SqlRuns(open_database())
    assert await runs.load_journal(begun.run_id) == lines
    assert list(runs.faults()) == []
    async with await runs.claim(begun.run_id) as claim:
        (third,) = inputs(begun, entries=2, since=2)
        length = await runs.append(claim, [third], sync=True)
        lines.append(journal_line(third))
        assert length == sum(map(len, lines))
        assert await runs.load_journal(begun.run_id) == lines
        assert await runs.load(begun.run_id) == begun.model_copy(update={"trace_count": 6, "steps_executed": 3})
    assert [entry["index"] for entry in await runs.read_trace(begun.run_id, 1, 9)] == list(range(1, 6))
    assert list(runs.faults()) == []
    runs.close()


@pytest.mark.anyio
async def test_a_process_of_an_older_version_is_refused_where_it_would_append(open_database: Open) -> None:
    """It may have the database open since before the upgrade, and rows mean something else now."""
    database = open_database()
    await start_and_release(SqlRuns(database), record())
    with pytest.raises(StoreUnavailable, match="wf_journal"):
        run_sql(database, "INSERT INTO wf_journal (run, position) SELECT number, 1 FROM wf_runs")
