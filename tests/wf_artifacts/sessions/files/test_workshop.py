"""What a crash leaves where sessions are made is cleared up, unless somebody is at work."""

from pathlib import Path

import pytest

from tests.wf_artifacts.sessions.samples import HEADER, new_session_id, session
from wf_artifacts.sessions.files.workshop import Workshop
from wf_artifacts.storage.home import Home
from wf_artifacts.stores import open_stores

pytestmark = pytest.mark.anyio


@pytest.fixture
def left(home: Path) -> Path:
    """A session that was being made."""
    left = home / "sessions" / f".{new_session_id()}.tmp"
    left.mkdir(parents=True)
    (left / "events.jsonl").write_bytes(b"half")
    return left


def workshop(home: Path) -> Workshop:
    return Workshop(Home(home), home / "sessions")


def test_whoever_is_alone_clears_up(home: Path, left: Path) -> None:
    workshop(home).clear_up()
    assert not left.exists()


def test_nobody_clears_up_while_another_makes_or_removes_a_session(home: Path, left: Path) -> None:
    with workshop(home).using(left.with_name(".other.tmp")):
        workshop(home).clear_up()
        with workshop(home).alone() as alone:
            assert not alone
    assert left.exists()


def test_many_make_and_remove_at_once(home: Path) -> None:
    with workshop(home).using(home / "a"), workshop(home).using(home / "b"):
        pass


def names(home: Path) -> list[str]:
    return [path.name for path in (home / "sessions").iterdir()]


async def test_a_list_clears_up(home: Path, left: Path) -> None:
    async with open_stores(f"file://{home}") as stores:
        assert (await stores.sessions.list_sessions(principal=None, limit=2)).items == ()
    assert names(home) == [".lock"]


async def test_what_was_left_is_in_nobodys_way(home: Path, left: Path) -> None:
    async with open_stores(f"file://{home}") as stores:
        await (await stores.sessions.create(session(), HEADER)).release()
        (home / "sessions" / left.name).mkdir()
        await stores.sessions.delete(new_session_id())
    assert names(home) == [".lock"]
