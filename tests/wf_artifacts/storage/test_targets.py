"""Where nothing can be copied to, however the address is written; nothing is touched there."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from wf_artifacts.errors import UnfitTarget
from wf_artifacts.storage.targets import Site, require_fit

Refused = Callable[..., str]
"""Gives why a target is refused, which says nothing of the machine; everything is as it was before."""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home in use."""
    home = tmp_path / "home"
    for name in ("artifacts/notes/000001.json", "artifacts/.lock", "index/.lock", "index/000001-3f9a1b2c.db"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).touch()
    return home


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A database of ours that was closed."""
    folder = tmp_path / "data"
    folder.mkdir()
    return make(folder / "wf.db", "wf_schema")


def make(path: Path, table: str) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"CREATE TABLE {table} (version)")
    return path


def everything(folder: Path) -> dict[str, bytes | None]:
    return {str(path): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


@pytest.fixture
def refused(tmp_path: Path) -> Refused:
    def refused(target: Site, source: Site | None = None) -> str:
        before = everything(tmp_path)
        with pytest.raises(UnfitTarget) as told:
            require_fit(target, source)
        assert everything(tmp_path) == before
        assert told.value.hint is not None
        assert str(tmp_path) not in f"{told.value} {told.value.hint}"
        return told.value.reason

    return refused


@pytest.mark.parametrize(
    "name", ["wf.db-wal", "wf.db-shm", "wf.db-journal", "wf.db-lock", "wf.db-copy-lock", "wf.db-owner-a", "WF.DB-WAL"]
)
def test_a_file_that_belongs_to_a_database_is_none(refused: Refused, file: Path, name: str) -> None:
    other = file.with_name("other.db")
    for source in (Site("database", file), Site("database", other), Site("home", file.parent / "home"), None):
        assert "beside a database" in refused(Site("database", file.with_name(name)), source)


@pytest.mark.parametrize("name", ["wf.db-wal", "wf.db-owner-a", "WF.DB-journal"])
def test_nor_is_a_folder_of_such_a_name(refused: Refused, file: Path, name: str) -> None:
    """SQLite could not open the database any more."""
    assert "beside a database" in refused(Site("home", file.with_name(name)), Site("database", file))
    (file.parent / "link").symlink_to(file.with_name(name))
    assert "beside a database" in refused(Site("home", file.parent / "link"), None)


def test_nor_is_one_by_a_link_or_from_the_folder_where_one_is(
    refused: Refused, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = Site("database", file)
    (file.parent / "copy.db").symlink_to(file.with_name("wf.db-wal"))
    assert "beside a database" in refused(Site("database", file.parent / "copy.db"), source)
    (file.parent / "link").symlink_to(file.parent)
    assert "beside a database" in refused(Site("database", file.parent / "link" / "wf.db-wal"), source)
    monkeypatch.chdir(file.parent)
    assert "beside a database" in refused(Site("database", Path("wf.db-journal")), source)


def test_a_database_is_not_lost_to_one_that_would_take_it_for_its_log(refused: Refused, file: Path) -> None:
    log = file.rename(file.with_name("wf.db-wal"))
    assert "'wf.db-wal'" in refused(Site("database", file), Site("database", log))


def test_nothing_is_copied_into_the_home_that_it_is_copied_from_or_into_another(
    refused: Refused, home: Path, tmp_path: Path
) -> None:
    source = Site("home", home)
    (tmp_path / "link").symlink_to(home)
    for inside in ("runs", "keys", "a/b", "index/000001-3f9a1b2c.db", "copy.db"):
        for kind in ("home", "database"):
            assert "inside the store" in refused(Site(kind, home / inside), source)
            assert "inside the store" in refused(Site(kind, tmp_path / "link" / inside), source)
    for inside in ("runs", "copy.db"):
        for kind in ("home", "database"):
            assert "inside the home of a store" in refused(Site(kind, home / inside), None)


def test_nothing_is_copied_to_a_folder_around_its_source(refused: Refused, home: Path, file: Path) -> None:
    for source in (Site("home", home), Site("database", file)):
        assert "lies inside it" in refused(Site("home", source.path.parent), source)


def test_a_database_under_two_names_is_one(refused: Refused, file: Path) -> None:
    other = file.with_name("other.db")
    other.hardlink_to(file)
    assert "under another name" in refused(Site("database", other), Site("database", file))


@pytest.mark.parametrize("mode", ["WAL", "DELETE"])
def test_a_database_of_another_program_is_left_as_it_is(refused: Refused, tmp_path: Path, mode: str) -> None:
    path = make(tmp_path / "places.sqlite", "bookmarks")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA journal_mode = {mode}")
    assert "a table 'bookmarks'" in refused(Site("database", path))


def test_a_store_of_an_earlier_version_is_not_brought_to_this_one_to_be_refused(refused: Refused, file: Path) -> None:
    with closing(sqlite3.connect(file, isolation_level=None)) as old:
        old.execute("DROP TABLE wf_schema")
        for table, row in (("wf_schema (version)", "9"), ("wf_locks (name)", "'catalog'"), ("wf_runs (run_id)", "'r'")):
            old.execute(f"CREATE TABLE {table}")
            old.execute(f"INSERT INTO {table.split()[0]} VALUES ({row})")
    assert "earlier version" in refused(Site("database", file))
    for undone, harmless in (
        ("DELETE FROM wf_locks WHERE name = 'unfinished copy'", "INSERT INTO wf_locks VALUES ('unfinished copy')"),
        ("INSERT INTO wf_runs VALUES ('r')", "DELETE FROM wf_runs"),
    ):
        with closing(sqlite3.connect(file, isolation_level=None)) as old:
            old.execute(harmless)
            require_fit(Site("database", file), None)
            old.execute(undone)


@pytest.mark.parametrize("content", [b"a text\n", b"x" * 10_000])
def test_what_is_no_database_is_told(refused: Refused, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "text"
    path.write_bytes(content)
    assert "no SQLite database" in refused(Site("database", path))
    assert "no folder" in refused(Site("home", path))
    assert "no file" in refused(Site("database", tmp_path))


@pytest.mark.parametrize(
    "name", ["letter.txt", "runs.txt", "keys/id_rsa", "index/index.html", "lost+found/runs/run_1/run.json", ".git/HEAD"]
)
def test_a_folder_with_what_no_copy_makes_is_none(refused: Refused, tmp_path: Path, name: str) -> None:
    (tmp_path / "folder" / name).parent.mkdir(parents=True)
    (tmp_path / "folder" / name).touch()
    assert name.partition("/")[0] in refused(Site("home", tmp_path / "folder"))


def test_where_there_is_nothing_or_an_empty_store_anything_is_copied_to(tmp_path: Path, home: Path, file: Path) -> None:
    empty = tmp_path / "empty"
    for name in ("runs", "keys/3f", "index/sessions", "calls/open", "lost+found"):
        (empty / name).mkdir(parents=True)
    for name in ("copy.lock", "unfinished-copy", ".unfinished-copy.tmp", "index/.lock", "index/000001-3f9a1b2c.db-wal"):
        (empty / name).touch()
    (tmp_path / "empty.db").touch()
    for source in (Site("home", home), Site("database", file), None):
        for path in ("a/new", "empty", "homes", "my-journal"):
            require_fit(Site("home", tmp_path / path), source)
        for path in ("a/new.db", "empty.db", "data/new.db", "home.db"):
            require_fit(Site("database", tmp_path / path), source)
        require_fit(Site("database", file), source)
    assert list((tmp_path / "data").iterdir()) == [file]
