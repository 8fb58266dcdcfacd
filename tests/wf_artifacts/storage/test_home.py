"""Files of a home are named by their place in it."""

import shutil
from pathlib import Path

import pytest

from wf_artifacts.errors import StoreGone, StoreUnavailable
from wf_artifacts.storage import atomic
from wf_artifacts.storage.documents import Format
from wf_artifacts.storage.home import FileTreeStore, Home, in_home
from wf_artifacts.storage.records import Record
from wf_core.errors import StateCorrupt


class Thing(Record):
    name: str


THING = Format("wf.thing", 1, Thing)


def test_what_is_not_there_is_nothing(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    assert home.read(home.root / "a.json") is None
    assert home.load(home.root / "things" / "a.json", THING) is None
    assert home.folders(home.root / "things") == home.files(home.root / "things") == []


def test_files_and_folders_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "loop").symlink_to("loop")
    home = Home(tmp_path)
    assert (home.folders(tmp_path), sorted(home.files(tmp_path))) == (["folder"], ["file", "loop"])


def test_a_document_under_the_name_of_another_is_damage(tmp_path: Path) -> None:
    (tmp_path / "b.json").write_bytes(THING.encode(Thing(name="a")))
    home = Home(tmp_path)
    assert home.load(tmp_path / "b.json", THING, name="a") == Thing(name="a")
    with pytest.raises(StateCorrupt, match=r"document b\.json is damaged: its name is 'a'"):
        home.load(tmp_path / "b.json", THING, name="b")


def test_what_cannot_be_read_is_named_without_the_home(tmp_path: Path) -> None:
    home = Home(tmp_path)
    (tmp_path / "things").symlink_to("things")
    with pytest.raises(StoreUnavailable) as told:
        home.read(tmp_path / "things")
    assert told.value.document == "things"
    assert str(tmp_path) not in f"{told.value} {told.value.details}"


def test_a_changed_folder_is_made_swept_and_locked(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    folder, lock = home.root / "things", home.root / ".lock"
    with home.changing(folder, lock=lock):
        (folder / ".a.json.tmp").write_bytes(b"left by a crash")
        (folder / "a.json").write_bytes(b"x")
    with home.changing(folder, lock=lock):
        assert home.files(folder) == ["a.json"]


def test_what_is_not_there_has_no_size(tmp_path: Path) -> None:
    home = Home(tmp_path)
    (tmp_path / "file").write_bytes(b"12345")
    assert (home.has(tmp_path / "file"), home.size(tmp_path / "file")) == (True, 5)
    assert (home.has(tmp_path / "gone"), home.size(tmp_path / "gone")) == (False, 0)
    with pytest.raises(StoreUnavailable):
        home.has(tmp_path / "file" / "inside")


class Things(FileTreeStore):
    """Keeps things in a room of the home."""

    @in_home
    def make(self, name: str) -> None:
        room = self.home.room("things")
        atomic.make_folder(room)
        (room / name).write_bytes(b"x")

    @in_home
    def lose_the_home(self) -> str:
        shutil.rmtree(self.home.root)
        return "done"


@pytest.mark.anyio
@pytest.mark.parametrize("gone", ["home", "home/things"])
async def test_a_home_that_was_used_and_went_away_is_not_made_anew(tmp_path: Path, gone: str) -> None:
    things = Things(Home(tmp_path / "home"))
    await things.make("a")
    (tmp_path / gone).rename(tmp_path / "away")
    with pytest.raises(StoreGone):
        await things.make("b")
    assert not (tmp_path / gone).exists()
    (tmp_path / "away").rename(tmp_path / gone)
    await things.make("b")
    assert sorted(things.home.files(tmp_path / "home" / "things")) == ["a", "b"]


@pytest.mark.anyio
async def test_nothing_is_acknowledged_in_a_home_that_went_away_meanwhile(tmp_path: Path) -> None:
    things = Things(Home(tmp_path / "home"))
    await things.make("a")
    with pytest.raises(StoreGone):
        await things.lose_the_home()
