"""Transactions: all or nothing, one instant for readers, one writer after another, whichever the database."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.wf_artifacts.conftest import Open
from wf_artifacts.errors import StoreUnavailable
from wf_artifacts.storage.database import Database, Transaction


def put(transaction: Transaction, name: str, document: bytes = b"{}") -> None:
    transaction.change("put_deployment", deployment_id=name, document=document)


def names(database: Database) -> list[str]:
    with database.reading() as transaction:
        return sorted(name for (name,) in transaction.rows("deployment_ids"))


def interrupted(database: Database) -> None:
    with database.writing() as transaction:
        put(transaction, "b")
        raise KeyError


def refused(database: Database) -> None:
    with database.writing() as transaction:
        put(transaction, "c")
        transaction.change("insert_version", artifact_id="no artifact", version=1, digest="", document=b"")


def test_what_a_block_changed_is_there_when_it_ended(database: Database, open_database: Open) -> None:
    with database.writing() as transaction:
        put(transaction, "a")
        assert transaction.change("delete_deployment", deployment_id="b") == 0
    assert names(open_database()) == ["a"]


def test_what_a_block_changed_that_raised_is_undone(database: Database) -> None:
    with database.writing() as transaction:
        put(transaction, "a")
    for broken in (interrupted, refused):
        with pytest.raises((KeyError, StoreUnavailable)):
            broken(database)
    assert names(database) == ["a"]


def test_a_reader_sees_one_instant_and_keeps_no_writer_waiting(database: Database, open_database: Open) -> None:
    writing = open_database()
    with database.reading() as before:
        assert before.rows("deployment_ids") == []
        for number in range(20):
            with writing.writing() as transaction:
                put(transaction, f"a{number}")
        assert before.rows("deployment_ids") == []
    assert len(names(database)) == 20


def test_writers_of_many_threads_and_openings_lose_nothing(open_database: Open) -> None:
    databases = [open_database() for _ in range(2)]
    with databases[0].writing() as transaction:
        put(transaction, "count", b"")

    def count(number: int) -> None:
        with databases[number % 2].writing(sync=number % 3 == 0) as transaction:
            transaction.change("lock_catalog")
            ((counted,),) = transaction.rows("deployment_document", deployment_id="count")
            put(transaction, "count", counted + b".")

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(count, range(64)))
    with databases[1].reading() as transaction:
        assert transaction.row("deployment_document", deployment_id="count") == (b"." * 64,)


def test_nothing_is_changed_many_times_where_there_are_no_rows(database: Database) -> None:
    with database.writing() as transaction:
        transaction.change_many("put_deployment", [])
        transaction.change_many("put_deployment", [{"deployment_id": name, "document": b""} for name in "ab"])
    assert names(database) == ["a", "b"]


def test_a_statement_alone_is_a_change_of_its_own(database: Database, open_database: Open) -> None:
    assert database.change("put_deployment", {"deployment_id": "a", "document": b"{}"}) == 1
    assert database.change("delete_deployment", {"deployment_id": "b"}, sync=False) == 0
    assert names(open_database()) == ["a"]


def test_a_closed_database_refuses(database: Database) -> None:
    with database.reading() as transaction:
        transaction.rows("leases")
        database.close()
    with pytest.raises(StoreUnavailable, match="it was closed"), database.reading():
        pass
    database.close()
