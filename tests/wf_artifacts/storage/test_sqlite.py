"""What is special about a database in a file: its modes, its log, its damage, and how it is locked."""

import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from wf_artifacts.errors import NotAStore, StoreFull, StoreGone, StoreUnavailable
from wf_artifacts.storage.connections import WouldWait
from wf_artifacts.storage.database import Database
from wf_artifacts.storage.places import LATELY_SECONDS, Place
from wf_artifacts.storage.sqlite import SqliteConnection, SqliteDatabase
from wf_artifacts.storage.steps import observed
from wf_core.errors import StateCorrupt

MOST_LOG_BYTES = 8 * 1024 * 1024
_PAGE_BYTES = 4096


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "wf.db"


@pytest.fixture
def database(path: Path) -> Database:
    return SqliteDatabase(path)


def put(database: Database, name: str, document: bytes = b"{}", *, sync: bool = True) -> None:
    with database.writing(sync=sync) as transaction:
        transaction.change("put_deployment", deployment_id=name, document=document)


def put_at_once(database: Database, name: str, document: bytes = b"{}") -> None:
    row = {"deployment_id": name, "document": document}
    assert database.change_at_once("put_deployment", row) == 1


def names(database: Database) -> list[str]:
    with database.reading() as transaction:
        return [name for (name,) in transaction.rows("deployment_ids")]


def test_nothing_is_made_before_the_first_use(path: Path, database: Database) -> None:
    assert not path.parent.exists()
    database.close()


def test_only_the_user_may_read_it(path: Path, database: Database) -> None:
    put(database, "a")
    database.announce("owner")
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()} == {0o600}
    database.close()


def test_closing_leaves_one_file(path: Path, database: Database) -> None:
    with database.reading():
        put(database, "a")
        database.announce("owner")
    assert len(list(path.parent.iterdir())) == 4
    database.close()
    assert list(path.parent.iterdir()) == [path]
    again = SqliteDatabase(path)
    assert names(again) == ["a"]
    again.close()


def test_a_hold_is_on_the_file_that_a_link_leads_to(path: Path, database: Database, tmp_path: Path) -> None:
    (tmp_path / "link.db").symlink_to(path)
    linked = SqliteDatabase(tmp_path / "link.db")
    assert database.hold()
    assert not linked.hold()
    assert linked.holder() == database.holder() is not None
    database.close()
    assert list(path.parent.iterdir()) == []


def test_the_log_stays_short_however_much_is_written(path: Path, database: Database) -> None:
    """10,000 changes, half a megabyte at once, and a reader in between."""
    log = path.with_name("wf.db-wal")
    longest = 0
    for number in range(10_000):
        put(database, f"a{number % 100}", b"x" * 700, sync=False)
        if number % 500 == 0:
            with database.reading():
                put(database, "big", b"x" * 500_000, sync=False)
            longest = max(longest, log.stat().st_size)
    assert 0 < longest <= MOST_LOG_BYTES
    database.close()
    assert not log.exists()


def test_what_is_acknowledged_is_synced_and_what_need_not_be_is_not(path: Path) -> None:
    connection = SqliteDatabase(path).connect()
    found: list[int] = []
    for sync in (True, False, True):
        connection.begin(writing=True, sync=sync)
        found.append(connection.run("PRAGMA synchronous").rows[0][0])
        connection.commit()
        assert connection.change_at_once("UPDATE wf_locks SET name = name", {}) > 0
        found.append(connection.run("PRAGMA synchronous").rows[0][0])
    assert found == [2, 1, 1, 1, 2, 1]
    connection.close()


def test_a_change_that_is_made_at_once_is_synced_with_the_log(path: Path, database: Database) -> None:
    steps: list[tuple[str, str]] = []
    with observed(lambda one: steps.append((one.act, one.what)) if one.moment == "after" else None):
        put_at_once(database, "a")
        assert ("fdatasync", "wf.db-wal") not in steps
        database.synced()
    assert steps[-1] == ("fdatasync", "wf.db-wal")
    assert names(database) == ["a"]
    database.close()


def test_where_the_log_is_not_that_of_sqlite_every_change_is_waited_for(path: Path) -> None:
    """A file system without shared memory, say, keeps SQLite from having one."""
    path.parent.mkdir()
    plain = sqlite3.connect(path)
    plain.execute("CREATE TABLE numbers (number)")
    plain.close()
    connection = SqliteConnection(path, Place(path, "the database"))
    assert connection.change_at_once("INSERT INTO numbers VALUES (1)", {}) == 1
    assert connection.run("PRAGMA synchronous").rows == [(2,)]
    connection.sync_log()
    connection.close()


def test_a_reader_keeps_no_writer_of_another_opening_waiting(path: Path, database: Database) -> None:
    other = SqliteDatabase(path)
    with database.reading() as transaction:
        assert transaction.rows("deployment_ids") == []
        put(other, "a")
    for opened in (database, other):
        assert names(opened) == ["a"]
        opened.close()


def test_a_writer_that_waits_too_long_is_told(path: Path, database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wf_artifacts.storage.sqlite._PATIENCE_SECONDS", 0.01)
    other = SqliteDatabase(path)
    with database.writing(), pytest.raises(StoreUnavailable, match="locked"):
        put(other, "a")
    put(other, "b")
    assert names(database) == ["b"]
    for opened in (database, other):
        opened.close()


def test_what_is_to_be_done_at_once_waits_for_no_other_writer(path: Path, database: Database) -> None:
    other = SqliteDatabase(path)
    put(other, "a")
    for writer in (database, other):
        with writer.writing(), pytest.raises(WouldWait):
            put_at_once(other, "b")
    put_at_once(other, "c")
    assert names(database) == ["a", "c"]
    for opened in (database, other):
        opened.close()


def test_a_full_disk_changes_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as small:
        small.setattr("wf_artifacts.storage.sqlite._SETTINGS", ("PRAGMA max_page_count = 100",))
        database = SqliteDatabase(path)
        put(database, "a")
        for full in (put, put_at_once):
            with pytest.raises(StoreFull):
                full(database, "b", b"x" * 1_000_000)
        assert names(database) == ["a"]
        put(database, "c")
        database.close()
    larger = SqliteDatabase(path)
    put(larger, "b", b"x" * 1_000_000)
    assert names(larger) == ["a", "b", "c"]
    larger.close()


@pytest.mark.parametrize("content", [b"no database", b"x" * 10_000])
def test_a_file_that_is_no_database_is_told_and_left_alone(path: Path, database: Database, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(StateCorrupt, match=r"document wf\.db is damaged") as told:
        names(database)
    assert str(path.parent) not in str(told.value)
    assert path.read_bytes() == content
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
def test_a_database_of_another_program_is_not_used(path: Path, database: Database, mode: str) -> None:
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as other:
        other.execute(f"PRAGMA journal_mode = {mode}")
        other.execute("CREATE TABLE places (name)")
    content = path.read_bytes()
    with pytest.raises(NotAStore, match="another program and has a table 'places'"):
        names(database)
    assert path.read_bytes() == content
    assert list(path.parent.iterdir()) == [path]


def test_a_view_of_somebody_in_a_store_is_in_nobodys_way(path: Path, database: Database) -> None:
    put(database, "a")
    connection = database.connect()
    connection.run("CREATE VIEW mine AS SELECT deployment_id FROM wf_deployments")
    connection.close()
    database.close()
    again = SqliteDatabase(path)
    assert names(again) == ["a"]
    again.close()


@pytest.mark.parametrize("end", ["lock", "copy-lock", "owner-1"])
def test_a_database_that_was_made_under_such_a_name_by_an_earlier_version_stays(
    path: Path, database: Database, end: str
) -> None:
    first = SqliteDatabase(path)
    put(first, "a")
    first.close()
    other = path.rename(path.with_name(f"wf.db-{end}"))
    put(database, "b")
    database.announce("1")
    assert database.hold()
    database.close()
    again = SqliteDatabase(other)
    assert names(again) == ["a"]
    again.close()


@pytest.mark.parametrize("end", ["wal", "journal", "lock", "owner-1"])
def test_no_database_is_made_under_the_name_of_a_file_beside_another(path: Path, end: str) -> None:
    database = SqliteDatabase(path.with_name(f"wf.db-{end}"))
    with pytest.raises(NotAStore, match="beside another"):
        names(database)
    assert list(path.parent.iterdir()) == []


def test_a_damaged_file_is_told(path: Path, database: Database) -> None:
    put(database, "a")
    database.close()
    with path.open("r+b") as file:
        file.seek(_PAGE_BYTES)
        file.write(b"\xff" * (path.stat().st_size - _PAGE_BYTES))
    again = SqliteDatabase(path)
    with pytest.raises(StateCorrupt, match="malformed"):
        names(again)
    again.close()


def test_no_room_for_the_index_of_the_log_is_a_full_disk(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connection = SqliteDatabase(path).connect()
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = sqlite3.SQLITE_IOERR_SHMSIZE

    class Full:
        def execute(self, *_: object) -> None:
            raise error

    with monkeypatch.context() as full:
        full.setattr(connection, "_driver", Full())
        with pytest.raises(StoreFull):
            connection.run("SELECT 1")
    connection.close()


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreUnavailable) as told:
        names(SqliteDatabase(tmp_path / "file" / "wf.db"))
    assert str(tmp_path) not in str(told.value)


@pytest.mark.parametrize("gone", ["wf.db", "wf.db-wal", "the folder"])
def test_nothing_is_done_in_a_file_that_is_not_at_its_place_any_more(
    tmp_path: Path, path: Path, database: Database, gone: str
) -> None:
    """SQLite would go on in it, and all of that would be lost with the process."""
    put(database, "a")
    put(database, "b")
    moved, away = (path.parent if gone == "the folder" else path.with_name(gone)), tmp_path / "away"
    moved.rename(away)
    for write in (put, put_at_once, put):
        with pytest.raises(StoreGone):
            write(database, "lost")
    assert not moved.exists()
    away.rename(moved)
    put(database, "c")
    assert names(database) == ["a", "b", "c"]
    database.close()


def test_what_is_done_at_once_looks_a_hundred_times_a_second_at_most(
    path: Path, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 7.0
    monkeypatch.setattr("wf_artifacts.storage.places.monotonic", lambda: now)
    looked: list[Place] = []
    look = Place.require

    def watched(place: Place) -> None:
        looked.append(place)
        look(place)

    monkeypatch.setattr(Place, "require", watched)
    put(database, "a")
    for _ in range(2):
        looked.clear()
        for name in "abc":
            put_at_once(database, name)
        assert len(looked) == len({"the file", "its log"})
        now += LATELY_SECONDS
    path.rename(path.with_name("away"))
    with pytest.raises(StoreGone):
        put_at_once(database, "d")
    database.close()


def test_a_file_that_went_away_is_not_read_and_not_made_anew(path: Path, database: Database) -> None:
    put(database, "a")
    path.rename(path.with_name("away"))
    with pytest.raises(StoreGone):
        names(database)
    with pytest.raises(StoreGone):
        database.connect()
    with pytest.raises(StoreGone):
        database.announce("owner")
    assert not path.exists()
    database.close()


def test_another_file_in_its_place_is_not_written_to(path: Path, database: Database) -> None:
    put(database, "a")
    path.rename(path.with_name("away"))
    other = SqliteDatabase(path)
    put(other, "b")
    with pytest.raises(StoreGone):
        put(database, "c")
    assert names(other) == ["b"]
    for opened in (database, other):
        opened.close()
