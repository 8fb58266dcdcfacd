"""Several stores as one: sessions are read from the first that has them, and written to one."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.wf_artifacts.sessions.samples import HEADER, begin_and_release, events, moved, new_session_id, session
from wf_artifacts.errors import SessionBusy, SessionExists, SessionNotFound
from wf_artifacts.sessions.store import SessionStore
from wf_artifacts.stores import composite_sessions, open_stores
from wf_core.errors import StateCorrupt
from wf_core.ids import SessionId

pytestmark = pytest.mark.anyio

OLD = session(new_session_id(1), status="running", position=2)


@dataclass
class Several:
    both: SessionStore
    target: SessionStore
    other: SessionStore


@pytest.fixture
async def several(home: Path, sqlite: str) -> AsyncIterator[Several]:
    async with open_stores(f"file://{home}") as target, open_stores(sqlite) as other:
        await begin_and_release(other.sessions, OLD, given=events(2))
        yield Several(composite_sessions(target.sessions, other.sessions), target.sessions, other.sessions)


async def test_what_only_another_store_has_is_read_there(several: Several) -> None:
    assert (await several.both.load(OLD.session_id)).events == events(2)
    assert await several.both.load_record(OLD.session_id, principal="local") == OLD
    assert await several.both.abandoned() == [OLD.session_id]
    with pytest.raises(SessionNotFound):
        await several.target.load(OLD.session_id)


async def test_a_session_that_is_claimed_moves_to_the_target_and_goes_on_there(several: Several) -> None:
    async with await several.both.claim(OLD.session_id) as claim:
        assert await several.both.is_claimed(OLD.session_id)
        await several.both.store(claim, moved(OLD, 1, status="answered"), events(since=2))
    assert (await several.target.load(OLD.session_id)).events == events(3)
    assert (await several.both.load(OLD.session_id)).record.status == "answered"
    assert (await several.other.load(OLD.session_id)).record == OLD
    assert await several.both.abandoned() == []
    async with await several.both.claim(OLD.session_id):
        pass


async def test_a_session_that_somebody_holds_in_another_store_is_busy(several: Several) -> None:
    async with await several.other.claim(OLD.session_id):
        assert await several.both.is_claimed(OLD.session_id)
        for ask in (several.both.claim, several.both.delete):
            with pytest.raises(SessionBusy):
                await ask(OLD.session_id)
    with pytest.raises(SessionNotFound):
        await several.target.load(OLD.session_id)


async def test_an_id_that_another_store_has_is_taken(several: Several) -> None:
    with pytest.raises(SessionExists):
        await several.both.create(OLD, HEADER, events(2))


async def test_a_list_shows_each_session_once_as_the_first_store_has_it(several: Several) -> None:
    await begin_and_release(several.other, *(session(new_session_id(number)) for number in range(10, 30, 2)))
    await begin_and_release(several.target, *(session(new_session_id(number)) for number in range(11, 31, 2)))
    await begin_and_release(several.target, *(session(new_session_id(n), status="waiting") for n in range(10, 30, 4)))
    assert len((await several.both.list_sessions(principal=None, status="waiting", limit=99)).items) == 5
    for limit in (1, 2, 3, 7, 20, 21, 99):
        met: list[SessionId] = []
        cursor: str | None = None
        while True:
            page = await several.both.list_sessions(principal="local", status="ready", cursor=cursor, limit=limit)
            assert len(page.items) <= limit
            met += [one.session_id for one in page.items]
            cursor = page.next_cursor
            if cursor is None:
                break
        numbers = [n for n in range(29, 9, -1) if n % 2 or (n - 10) % 4]
        assert met == [new_session_id(number) for number in numbers]


async def test_a_damaged_session_hides_the_older_one(home: Path, several: Several) -> None:
    await (await several.both.claim(OLD.session_id)).release()
    (home / "sessions" / OLD.session_id / "session.json").write_bytes(b"junk")
    with pytest.raises(StateCorrupt):
        await several.both.load(OLD.session_id)
    page = await several.both.list_sessions(principal=None, limit=9)
    assert (page.items, [one.identifier for one in page.damaged]) == ((), [OLD.session_id])


async def test_a_deleted_session_does_not_come_back(several: Several) -> None:
    async with await several.both.claim(OLD.session_id):
        with pytest.raises(SessionBusy):
            await several.both.delete(OLD.session_id)
        assert (await several.other.load(OLD.session_id)).record == OLD
    await several.both.delete(OLD.session_id)
    for store in (several.both, several.target, several.other):
        with pytest.raises(SessionNotFound):
            await store.load(OLD.session_id)


async def test_close_ids_come_from_every_store(several: Several) -> None:
    await begin_and_release(several.target, session(new_session_id(2)))
    await begin_and_release(several.other, session(new_session_id(3), principal="other"))
    with pytest.raises(SessionNotFound) as missing:
        await several.both.load(SessionId(OLD.session_id[:-1]), principal="local")
    assert set(missing.value.close) == {OLD.session_id, new_session_id(2)}
