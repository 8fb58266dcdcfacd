"""A derived file is there whenever it is needed, whatever became of the last one."""

import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.wf_artifacts.points import at_change
from wf_artifacts.errors import StoreUnavailable
from wf_artifacts.storage.connections import Connection
from wf_artifacts.storage.derived import DerivedDatabase, Statement, Statements
from wf_artifacts.storage.home import Home

SCHEMA = ("CREATE TABLE names (name TEXT PRIMARY KEY)",)
NAMES = "SELECT name FROM names ORDER BY name"


class Truth:
    """What a file is derived from: a set of names."""

    def __init__(self, home: Path) -> None:
        self.names = {"a", "b"}
        self.made = 0
        self.folder = home / "names"
        self._home = Home(home)
        self._open: list[DerivedDatabase] = []

    def open(self, version: int = 1) -> DerivedDatabase:
        """Open it like another process does."""
        opened = DerivedDatabase(self._home, self.folder, version=version, schema=SCHEMA, fill=self._fill)
        self._open.append(opened)
        return opened

    def close(self) -> None:
        for opened in self._open:
            opened.close()

    def files(self) -> list[Path]:
        return sorted(self.folder.glob("*.db"))

    def _fill(self, connection: Connection) -> None:
        self.made += 1
        for name in self.names:
            connection.run("INSERT INTO names VALUES (:name)", {"name": name})


@pytest.fixture
def truth(home: Path) -> Iterator[Truth]:
    truth = Truth(home)
    yield truth
    truth.close()


def names(opened: DerivedDatabase) -> set[str]:
    return {name for (name,) in opened.rows(NAMES)}


def adding(name: str) -> Statements:
    return [("INSERT INTO names VALUES (:name)", {"name": name})]


def known(name: str) -> Statement:
    return "SELECT name FROM names WHERE name = :name", {"name": name}


def removing(name: str) -> Statements:
    return [("DELETE FROM names WHERE name = :name", {"name": name})]


def test_it_is_made_once_and_seen_by_all(truth: Truth) -> None:
    first, second = truth.open(), truth.open()
    assert names(first) == names(second) == {"a", "b"}
    with first.changing(before=adding("c"), after=removing("a")):
        assert names(second) == {"a", "b", "c"}
    assert names(second) == {"b", "c"}
    assert truth.made == 1


def test_only_the_owner_may_read_it(truth: Truth) -> None:
    assert names(truth.open())
    assert {path.stat().st_mode & 0o777 for path in truth.folder.iterdir()} == {0o600}


def test_a_change_that_fails_is_not_settled(truth: Truth) -> None:
    opened = truth.open()
    with pytest.raises(ZeroDivisionError), opened.changing(before=adding("c"), after=removing("a")):
        _ = 1 / 0
    assert names(opened) == {"a", "b", "c"}


def test_what_need_not_be_written_before_a_change_is_not(truth: Truth) -> None:
    opened = truth.open()
    for name, missing in (("c", False), ("c", True), ("d", True)):
        with opened.changing(before=adding(name), after=[], unless=known("c" if missing else "z")):
            pass
    assert names(opened) == {"a", "b", "c"}


@pytest.mark.parametrize("data", [b"", b"not a database" * 1000])
def test_one_that_is_damaged_is_made_anew_for_all_who_have_it_open(truth: Truth, data: bytes) -> None:
    first, second = truth.open(), truth.open()
    assert names(first) == names(second)
    (damaged,) = truth.files()
    first.close()
    second.close()
    damaged.write_bytes(data)
    truth.names.add("c")
    with first.changing(before=adding("d"), after=[]):
        pass
    assert names(first) == names(second) == {"a", "b", "c", "d"}
    assert damaged not in truth.files()
    assert (len(truth.files()), truth.made) == (1, 2)


def test_pages_that_are_damaged_are_noticed_when_they_are_read(truth: Truth) -> None:
    truth.names = {f"name {number}" for number in range(10_000)}
    opened = truth.open()
    assert names(opened) == truth.names
    opened.close()
    (path,) = truth.files()
    data = bytearray(path.read_bytes())
    data[8192:-8192] = b"#" * (len(data) - 16384)
    path.write_bytes(data)
    assert names(opened) == truth.names
    assert truth.made == 2


def test_one_of_another_version_is_made_anew(truth: Truth) -> None:
    assert names(truth.open(version=1)) == names(truth.open(version=2))
    assert truth.made == 2


def test_one_that_was_removed_is_made_anew_under_a_name_that_was_never_used(truth: Truth) -> None:
    opened = truth.open()
    assert names(opened) == {"a", "b"}
    removed = truth.files()
    for path in truth.folder.iterdir():
        path.unlink()
    truth.names.add("c")
    assert names(opened) == {"a", "b", "c"}
    assert not set(removed) & set(truth.files())


def test_one_that_can_never_be_used_is_given_up(truth: Truth, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = truth.open()

    def make_nothing(path: Path) -> None:
        """Leave no file."""

    monkeypatch.setattr(opened, "_make", make_nothing)
    with pytest.raises(StoreUnavailable, match="made anew again and again"):
        opened.rows(NAMES)
    with pytest.raises(StoreUnavailable), opened.changing(before=[], after=[]):
        pytest.fail("it began")


def test_a_failure_at_any_step_of_making_leaves_nothing_in_the_way(truth: Truth) -> None:
    class Crash(BaseException):
        pass

    def crash() -> None:
        raise Crash

    reached = True
    point = 0
    while reached:
        with at_change(point, crash) as reach:
            with suppress(Crash):
                assert names(truth.open()) == {"a", "b"}
            reached = reach()
        point += 1
    assert point > 5
    assert names(truth.open()) == {"a", "b"}
    assert len(truth.files()) == 1
    assert [path.name for path in truth.folder.iterdir() if path.name.endswith(".tmp")] == []


def test_nobody_is_alone_while_somebody_changes_something(truth: Truth) -> None:
    first, second = truth.open(), truth.open()
    with first.changing(before=[], after=[]), second.changing(before=[], after=[]), second.alone() as alone:
        assert not alone
    with second.alone() as alone:
        assert alone
        second.settle(adding("c"))
    assert names(first) == {"a", "b", "c"}


def test_a_change_waits_for_one_who_is_alone(truth: Truth) -> None:
    opened, other = truth.open(), truth.open()
    assert names(opened)
    changed = threading.Event()

    def change() -> None:
        with other.changing(before=adding("c"), after=[]):
            changed.set()

    with opened.alone():
        changing = threading.Thread(target=change)
        changing.start()
        assert not changed.is_set()
        assert names(opened) == {"a", "b"}
    changing.join()
    assert names(opened) == {"a", "b", "c"}


def test_the_log_beside_it_stays_small(truth: Truth) -> None:
    opened = truth.open()
    assert names(opened)
    for number in range(3_000):
        opened.settle(adding(f"{number:08000}"))
    (log,) = truth.folder.glob("*-wal")
    assert log.stat().st_size <= 8 * 1024 * 1024
