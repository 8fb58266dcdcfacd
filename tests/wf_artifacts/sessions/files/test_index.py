"""The index of sessions fits every list of sessions, and what a crash left is cleared up by whoever lists."""

from pathlib import Path

import pytest

from tests.wf_artifacts.lists import require_no_scan
from tests.wf_artifacts.sessions.samples import HEADER, begin_and_release, events, moved, new_session_id, session
from wf_artifacts.sessions.files.index import LISTED, SessionIndex
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


def names(home: Path) -> list[str]:
    return [path.name for path in (home / "sessions").iterdir()]


def test_no_list_passes_over_sessions_or_sorts_them() -> None:
    assert LISTED.filters == ("status", "principal")
    require_no_scan(LISTED)


async def test_a_list_clears_up_where_there_was_no_index(home: Path, left: Path) -> None:
    async with open_stores(f"file://{home}") as stores:
        assert (await stores.sessions.list_sessions(principal=None, limit=2)).items == ()
    assert names(home) == []


async def test_what_was_left_is_in_nobodys_way(home: Path, left: Path) -> None:
    async with open_stores(f"file://{home}") as stores:
        await (await stores.sessions.create(session(), HEADER)).release()
        (home / "sessions" / left.name).mkdir()
        await stores.sessions.delete(new_session_id())
    assert names(home) == []


async def test_sessions_of_a_home_without_an_index_are_found(home: Path) -> None:
    """Versions before had none."""
    running = session(new_session_id(1), status="running", position=2)
    async with open_stores(f"file://{home}") as stores:
        await begin_and_release(stores.sessions, session(), running, given=events(2))
    for path in (home / "index" / "sessions").iterdir():
        path.unlink()
    async with open_stores(f"file://{home}") as stores:
        assert await stores.sessions.abandoned() == [running.session_id]
        async with await stores.sessions.claim(running.session_id) as claim:
            await stores.sessions.store(claim, moved(running, status="answered"), events(since=2))
        assert await stores.sessions.abandoned() == []
        page = await stores.sessions.list_sessions(principal=None, status="answered", limit=9)
        assert [one.session_id for one in page.items] == [running.session_id]


async def test_a_status_is_entered_before_it_changes_and_nothing_is_entered_while_it_stays(home: Path) -> None:
    begun = session(status="running", position=1)
    index = SessionIndex(Home(home), list)
    async with open_stores(f"file://{home}") as stores:
        await begin_and_release(stores.sessions, begun, given=events(1))
        async with await stores.sessions.claim(begun.session_id) as claim:
            other = new_session_id(9)
            with index.vanishing(other):  # keeps everybody else from settling anything
                await stores.sessions.store(claim, moved(begun, status="waiting"), events(since=1))
                assert list(index.newest(status="waiting")) == [other, begun.session_id]
                assert list(index.newest(status="running")) == [other]
    index.close()
