"""Files of a session that were changed by hand: each is named, and left alone; whatever does not need it is there."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from tests.documents import resealed
from tests.wf_artifacts.obstacles import OBSTACLES, replace
from tests.wf_artifacts.points import at_change, no_room
from tests.wf_artifacts.sessions.samples import HEADER, begin_and_release, events, moved, new_session_id, session
from wf_artifacts.errors import StoreFull
from wf_artifacts.sessions.models import StoredSession
from wf_artifacts.sessions.store import SessionStore
from wf_artifacts.stores import open_stores
from wf_core.errors import FormatTooNew, StateCorrupt, StateError

pytestmark = pytest.mark.anyio

BEGUN = session(new_session_id(1), status="running", position=3)
HEALTHY = session(new_session_id(2), position=3)
BOM = b"\xef\xbb\xbf"

Change = Callable[[bytes], bytes]
DAMAGE: dict[str, tuple[str, Change]] = {
    "record: empty": ("session.json", lambda data: b""),
    "record: truncated": ("session.json", lambda data: data[:-9]),
    "record: BOM": ("session.json", lambda data: BOM + data),
    "record: two documents": ("session.json", lambda data: data + data),
    "record: unknown field": ("session.json", lambda data: data.replace(b'"turns":', b'"odd":1,"turns":')),
    "record: unknown member": ("session.json", lambda data: data.replace(b'"record":', b'"odd":1,"record":')),
    "record: wrong type": ("session.json", lambda data: data.replace(b'"turns":0', b'"turns":"0"')),
    "record: another's": ("session.json", lambda data: data.replace(BEGUN.session_id.encode(), b"sess_1")),
    "record: another letter": ("session.json", lambda data: data.replace(b'"helper"', b'"helped"')),
    "head: another count": ("session.json", lambda data: resealed(data.replace(b'"position":3', b'"position":2'))),
    "head: another length": ("session.json", lambda data: resealed(data.replace(b'_bytes":172', b'_bytes":171'))),
    "header: empty": ("header.json", lambda data: b""),
    "header: truncated": ("header.json", lambda data: data[:-1]),
    "header: BOM": ("header.json", lambda data: BOM + data),
    "header: two documents": ("header.json", lambda data: data + data),
    "events: empty": ("events.jsonl", lambda data: b""),
    "events: truncated": ("events.jsonl", lambda data: data[:-1]),
    "events: a line less": ("events.jsonl", lambda data: data[: data.rindex(b"\n", 0, -1) + 1]),
    "events: BOM": ("events.jsonl", lambda data: BOM + data),
    "events: a line torn": ("events.jsonl", lambda data: data.replace(b"}\n{", b"}\n\n", 1)),
    "events: another letter": ("events.jsonl", lambda data: data.replace(b"begin", b"began", 1)),
    "events: another number": ("events.jsonl", lambda data: data.replace(b'"n":1,"kind"', b'"n":7,"kind"')),
    "events: no lines": ("events.jsonl", lambda data: data.replace(b"\n", b" ")),
}  # fmt: skip


@pytest.fixture
async def sessions(home: Path) -> AsyncIterator[SessionStore]:
    async with open_stores(f"file://{home}") as stores:
        await begin_and_release(stores.sessions, BEGUN, HEALTHY, given=events(3))
        yield stores.sessions


def folder(home: Path) -> Path:
    return home / "sessions" / BEGUN.session_id


def files(home: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder(home).iterdir() if path.is_file()}


@pytest.mark.parametrize("damage", DAMAGE)
async def test_a_damaged_file_is_named_and_left_alone(home: Path, sessions: SessionStore, damage: str) -> None:
    name, change = DAMAGE[damage]
    data = files(home)[name]
    assert change(data) != data
    (folder(home) / name).write_bytes(change(data))
    before = files(home)
    with pytest.raises(StateCorrupt) as told:
        await sessions.load(BEGUN.session_id)
    named: str = told.value.details["document"]
    assert named.startswith(f"sessions/{BEGUN.session_id}/")
    assert named.endswith(name) or damage.startswith("head: ")
    assert str(home) not in str(told.value)
    assert await sessions.load(HEALTHY.session_id) == StoredSession(HEALTHY, HEADER, events(3))
    page = await sessions.list_sessions(principal="local", limit=10)
    assert {one.session_id for one in page.items} | {one.identifier for one in page.damaged} == {
        BEGUN.session_id,
        HEALTHY.session_id,
    }
    assert bool(page.damaged) == damage.startswith("record: ")
    assert files(home) == before


async def test_one_of_version_1_is_read_and_goes_on_with_checksums(home: Path, sessions: SessionStore) -> None:
    """Its lines are the events alone, and stay so."""
    plain = b"".join(event + b"\n" for event in events(3))
    head = (folder(home) / "session.json").read_bytes()
    body = head[head.index(b'{"record"') : head.index(b'"events_bytes"')]
    older = b'{"format":"wf.session_head","version":1,"body":%b"events_bytes":%d}}' % (body, len(plain))
    (folder(home) / "session.json").write_bytes(older)
    (folder(home) / "events.jsonl").write_bytes(plain)
    assert await sessions.load(BEGUN.session_id) == StoredSession(BEGUN, HEADER, events(3))
    for count in (3, 4):
        async with await sessions.claim(BEGUN.session_id) as claim:
            stored = await sessions.load_record(BEGUN.session_id)
            await sessions.store(claim, moved(stored), events(since=count))
        assert (await sessions.load(BEGUN.session_id)).events == events(count + 1)
    path = folder(home) / "events.jsonl"
    assert path.read_bytes().startswith(plain)
    path.write_bytes(path.read_bytes().replace(b'"n":4,"kind":"begin"', b'"n":4,"kind":"began"'))
    with pytest.raises(StateCorrupt, match="line 5 is not what was written"):
        await sessions.load(BEGUN.session_id)


async def test_a_newer_version_is_refused(home: Path, sessions: SessionStore) -> None:
    path = folder(home) / "session.json"
    path.write_bytes(path.read_bytes().replace(b'"version":3', b'"version":4'))
    for ask in (sessions.load, sessions.load_record, sessions.claim):
        with pytest.raises(FormatTooNew, match=f"sessions/{BEGUN.session_id}/session.json"):
            await ask(BEGUN.session_id)
    assert not await sessions.is_claimed(BEGUN.session_id)


@pytest.mark.parametrize("name", ["session.json", "header.json", "events.jsonl"])
@pytest.mark.parametrize("obstacle", OBSTACLES)
async def test_what_is_no_file_is_refused(home: Path, sessions: SessionStore, name: str, obstacle: str) -> None:
    replace(folder(home) / name, obstacle)
    with pytest.raises(StateError, match=f"{BEGUN.session_id}/{name}"):
        await sessions.load(BEGUN.session_id)
    assert (await sessions.load(HEALTHY.session_id)).events == events(3)


@pytest.mark.parametrize("name", ["header.json", "events.jsonl"])
async def test_a_file_that_is_missing_is_named(home: Path, sessions: SessionStore, name: str) -> None:
    (folder(home) / name).unlink()
    with pytest.raises(StateCorrupt, match=f"{name} is damaged: it is missing"):
        await sessions.load(BEGUN.session_id)
    assert await sessions.load_record(BEGUN.session_id) == BEGUN


async def test_nobody_goes_on_behind_events_that_are_missing(home: Path, sessions: SessionStore) -> None:
    path = folder(home) / "events.jsonl"
    path.write_bytes(path.read_bytes()[:-5])
    before = files(home)
    with pytest.raises(StateCorrupt, match="bytes, not"):
        await sessions.claim(BEGUN.session_id)
    assert files(home) == before


async def test_what_was_never_stored_is_not_read_and_cut_by_the_next_holder(home: Path, sessions: SessionStore) -> None:
    with (folder(home) / "events.jsonl").open("ab") as file:
        file.write(b'{"n":3}\n{"torn')
    (folder(home) / ".session.json.tmp").write_bytes(b"half")
    assert (await sessions.load(BEGUN.session_id)).events == events(3)
    async with await sessions.claim(BEGUN.session_id) as claim:
        assert (folder(home) / "events.jsonl").read_bytes().count(b"\n") == 3
        await sessions.store(claim, moved(BEGUN), events(since=3))
    assert (await sessions.load(BEGUN.session_id)).events == events(4)
    assert sorted(files(home)) == ["events.jsonl", "header.json", "lock", "session.json"]


async def test_a_store_that_finds_no_room_changes_nothing_and_goes_on_later(home: Path, sessions: SessionStore) -> None:
    async with await sessions.claim(BEGUN.session_id) as claim:
        before, number = files(home), 0
        while True:
            with at_change(number, no_room) as reached:
                try:
                    await sessions.store(claim, moved(BEGUN), events(since=3))
                except StoreFull:
                    stored = (await sessions.load(BEGUN.session_id)).events
                    if stored != events(3):
                        # The name is there, and only not known to be on disk.
                        break
                    assert files(home) == before
            if not reached():
                break
            number += 1
        assert number > 5
    assert (await sessions.load(BEGUN.session_id)).events == events(4)
