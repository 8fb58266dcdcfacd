"""What stands at a path is seen without a byte of it being changed."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from wf_artifacts.storage.strangers import has_taken_name, is_to_be_made, stranger, tables, taken_for_log


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "wf.db"


def make(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("end", ["wal", "shm", "journal", "lock", "copy-lock", "owner-3f9a", "WAL", "Journal"])
def test_a_name_that_a_file_beside_a_database_has_is_taken(path: Path, end: str) -> None:
    taken = path.with_name(f"{path.name}-{end}")
    assert has_taken_name(taken)
    (path.parent / "link.db").symlink_to(taken)
    assert has_taken_name(path.parent / "link.db")
    taken.symlink_to(path)
    assert has_taken_name(taken)


@pytest.mark.parametrize("name", ["wf.db", "wal", "-wal", "wf-walled", "journal-2", "lock-owner"])
def test_any_other_name_is_free(tmp_path: Path, name: str) -> None:
    assert not has_taken_name(tmp_path / name)


def test_what_is_missing_or_empty_is_to_be_made(path: Path) -> None:
    assert is_to_be_made(path)
    path.touch()
    assert is_to_be_made(path)
    path.write_bytes(b"x")
    assert not is_to_be_made(path)


def test_a_database_that_a_new_one_would_take_for_its_log_is_named(path: Path) -> None:
    path.with_name("wf.db-wal").write_bytes(b"")
    assert taken_for_log(path) is None
    make(path.with_name("wf.db-journal"), "CREATE TABLE mine (a)")
    assert taken_for_log(path) == "wf.db-journal"


@pytest.mark.parametrize("mode", ["WAL", "DELETE"])
def test_tables_are_named_and_nothing_is_changed_or_left_beside(path: Path, mode: str) -> None:
    make(path, f"PRAGMA journal_mode = {mode}", "CREATE TABLE mine (a INTEGER PRIMARY KEY AUTOINCREMENT)")
    before = content(path.parent)
    assert tables(path) == ["mine"]
    assert content(path.parent) == before


def test_tables_that_only_the_log_holds_are_named_and_stay_there(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE mine (a)")
        before = path.read_bytes(), path.with_name("wf.db-wal").read_bytes()
        assert tables(path) == ["mine"]
        assert (path.read_bytes(), path.with_name("wf.db-wal").read_bytes()) == before


def test_what_is_no_database_is_refused(path: Path) -> None:
    path.write_bytes(b"a text\n" * 200)
    with pytest.raises(sqlite3.DatabaseError):
        tables(path)


def test_a_stranger_is_whoever_does_not_have_our_beginning() -> None:
    assert stranger(["wf_schema", "wf_runs"]) is None
    assert stranger(["wf_schema", "mine", "wf_runs"]) == "mine"
