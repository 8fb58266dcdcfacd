"""What is special about a database on a server: it goes away and comes back, and asks for a password."""

import traceback
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

import psycopg
import pytest

from tests.wf_artifacts.postgres import PostgresServer
from wf_artifacts.errors import InvalidStoreUrl, StoreFull, StoreUnavailable
from wf_artifacts.storage.database import Database
from wf_artifacts.storage.postgres import PostgresDatabase

SECRET = "s3cret-p/w"


@pytest.fixture
def database(postgres: str) -> Database:
    return PostgresDatabase(postgres)


def names(database: Database) -> list[str]:
    with database.reading() as transaction:
        return [name for (name,) in transaction.rows("deployment_ids")]


def break_connections(server: PostgresServer) -> None:
    """End every connection of the stores, as a server that restarts does."""
    with psycopg.connect(server.url) as connection:
        connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'wf-mcp'")


def test_connections_that_broke_while_nobody_used_them_are_replaced(
    database: Database, postgres_server: PostgresServer
) -> None:
    with database.reading(), database.reading():
        pass
    break_connections(postgres_server)
    assert names(database) == []
    database.close()


def test_a_connection_that_breaks_in_use_is_told_and_nothing_was_changed(
    database: Database, postgres_server: PostgresServer
) -> None:
    def change() -> None:
        with database.writing() as transaction:
            transaction.change("put_deployment", deployment_id="a", document=b"{}")
            break_connections(postgres_server)
            transaction.change("put_deployment", deployment_id="b", document=b"{}")

    with pytest.raises(StoreUnavailable):
        change()
    assert names(database) == []
    database.close()


def end_holder(server: PostgresServer, database: Database) -> None:
    """End the one connection that holds the database, and wait until it has ended."""
    with psycopg.connect(server.url) as connection:
        assert connection.execute("SELECT pg_terminate_backend(%s, 5000)", [int(str(database.holder()))]).fetchone()
    assert database.holder() is None


def test_who_lost_the_connection_that_holds_writes_no_more(database: Database, postgres_server: PostgresServer) -> None:
    assert database.hold()
    with database.writing() as transaction:
        transaction.change("put_deployment", deployment_id="a", document=b"{}")
    end_holder(postgres_server, database)
    for sync in (True, False, True):
        with pytest.raises(StoreUnavailable, match="kept others from copying"), database.writing(sync=sync):
            pass
    assert names(database) == ["a"]
    database.close()


def test_the_next_holder_waits_for_what_the_one_before_is_writing(
    database: Database, postgres: str, postgres_server: PostgresServer
) -> None:
    """Otherwise that would appear in what the next has cleared."""
    following = PostgresDatabase(postgres)
    assert database.hold()
    with ThreadPoolExecutor() as threads:
        with database.writing() as transaction:
            transaction.change("put_deployment", deployment_id="late", document=b"{}")
            end_holder(postgres_server, database)
            held = threads.submit(following.hold)
            with psycopg.connect(postgres_server.url, autocommit=True) as connection:
                while not connection.execute("SELECT FROM pg_locks WHERE NOT granted").fetchall():
                    assert not held.done()
        assert held.result()
    assert names(following) == ["late"]
    with pytest.raises(StoreUnavailable, match="kept others from copying"), database.writing():
        pass
    with following.writing() as transaction:
        transaction.change("clear_deployments")
    for opened in (database, following):
        assert names(opened) == []
        opened.close()


def test_a_store_in_another_schema_is_held_by_itself(database: Database, postgres_server: PostgresServer) -> None:
    with psycopg.connect(postgres_server.url) as connection:
        connection.execute("CREATE SCHEMA other")
    other = PostgresDatabase(f"{postgres_server.url}&options=-csearch_path%3Dother")
    assert database.hold()
    assert other.holder() is None
    assert other.hold()
    for opened in (database, other):
        opened.close()
    with psycopg.connect(postgres_server.url) as connection:
        connection.execute("DROP SCHEMA other CASCADE")


def test_a_writer_sees_what_others_committed_whatever_the_server_does_by_default(
    database: Database, postgres_server: PostgresServer
) -> None:
    strict = PostgresDatabase(f"{postgres_server.url}&options=-cdefault_transaction_isolation%3Dserializable")
    with strict.writing() as transaction:
        assert transaction.rows("deployment_ids") == []
        database.change("put_deployment", {"deployment_id": "a", "document": b"{}"})
        assert transaction.rows("deployment_ids") == [("a",)]
    for opened in (database, strict):
        opened.close()


def test_a_statement_may_be_run_again_and_again(database: Database) -> None:
    """The driver prepares what it meets often."""
    for number in range(12):
        with database.writing(sync=bool(number % 2)) as transaction:
            transaction.change("put_deployment", deployment_id="a", document=b"%d" % number)
    assert names(database) == ["a"]
    database.close()


def test_a_full_disk_is_told_as_such(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise psycopg.errors.DiskFull("could not extend file")

    names(database)
    monkeypatch.setattr(psycopg.Cursor, "execute", full)
    with pytest.raises(StoreFull):
        names(database)
    database.close()


@pytest.mark.parametrize("address", ["127.0.0.1:1", "nowhere.invalid"])
def test_a_server_that_is_not_there_is_told_without_the_password(address: str) -> None:
    database = PostgresDatabase(f"postgresql://wf:{quote(SECRET, safe='')}@{address}/postgres?connect_timeout=2")
    with pytest.raises(StoreUnavailable) as told:
        names(database)
    require_no_secret(told.value)


@pytest.mark.parametrize("rest", ["@host/db?no_such_setting=1", "@[::1/db", "@host/db?host"])
def test_an_address_that_cannot_be_understood_is_refused_without_the_password(rest: str) -> None:
    with pytest.raises(InvalidStoreUrl) as told:
        PostgresDatabase(f"postgresql://wf:{quote(SECRET, safe='')}{rest}")
    require_no_secret(told.value)


def require_no_secret(error: BaseException) -> None:
    shown = "".join(traceback.format_exception(error))
    for secret in (SECRET, quote(SECRET, safe="")):
        assert secret not in shown
