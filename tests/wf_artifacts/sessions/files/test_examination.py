"""What is wrong with the sessions of a home is named, and repaired without losing a byte."""

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.wf_artifacts.sessions.samples import begin_and_release, events, moved, new_session_id, session
from wf_artifacts.errors import SessionNotFound
from wf_artifacts.sessions.files.index import SessionIndex
from wf_artifacts.storage.findings import Finding
from wf_artifacts.storage.home import Home
from wf_artifacts.stores import Stores, open_stores

pytestmark = pytest.mark.anyio

OPEN = session(new_session_id(1), status="waiting", position=3)
ENDED = session(new_session_id(2), status="answered", position=3)


@pytest.fixture
async def stores(home: Path) -> AsyncIterator[Stores]:
    async with open_stores(f"file://{home}") as stores:
        await begin_and_release(stores.sessions, OPEN, ENDED, given=events(3))
        yield stores


async def found(stores: Stores, *, repair: bool = False) -> list[Finding]:
    return [finding async for finding in stores.examine(repair=repair)]


async def repaired(stores: Stores) -> list[tuple[str, str]]:
    """Repair everything once, after which nothing is left to find, and give what was found."""
    findings = await found(stores)
    assert await found(stores, repair=True) == findings
    assert await found(stores) == []
    return [(finding.document, finding.kind) for finding in findings]


def files(place: Path) -> dict[str, bytes]:
    return {str(path.relative_to(place)): path.read_bytes() for path in place.rglob("*") if path.is_file()}


def garble(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:5] + b"\n" + data[6:])


async def test_nothing_is_wrong_with_sessions_that_were_left_alone(home: Path, stores: Stores) -> None:
    before = files(home / "sessions")
    assert await found(stores) == await found(stores, repair=True) == []
    assert files(home / "sessions") == before


async def test_the_lock_of_versions_without_an_index_is_left_alone(home: Path, stores: Stores) -> None:
    (home / "sessions" / ".lock").touch()
    assert await found(stores, repair=True) == []
    assert (home / "sessions" / ".lock").exists()


async def test_an_index_that_would_leave_a_session_out_is_made_anew(home: Path, stores: Stores) -> None:
    shutil.copytree(home / "sessions", home / "copy")
    await stores.sessions.delete(OPEN.session_id)
    shutil.move(home / "copy" / OPEN.session_id, home / "sessions" / OPEN.session_id)
    assert await repaired(stores) == [("index/sessions", "damaged")]
    page = await stores.sessions.list_sessions(principal=None, limit=9)
    assert [one.session_id for one in page.items] == [ENDED.session_id, OPEN.session_id]


@pytest.mark.parametrize("name", ["session.json", "header.json", "events.jsonl"])
async def test_an_open_session_that_nobody_can_go_on_with_is_taken_away_whole(
    home: Path, stores: Stores, name: str
) -> None:
    garble(home / "sessions" / OPEN.session_id / name)
    before = files(home / "sessions" / OPEN.session_id)
    (finding,) = await found(stores)
    assert finding.repair == "Moves the session to lost+found: nobody can go on with it."
    assert await repaired(stores) == [(f"sessions/{OPEN.session_id}/{name}", "damaged")]
    assert files(home / "lost+found" / "sessions" / OPEN.session_id) == before
    with pytest.raises(SessionNotFound):
        await stores.sessions.load(OPEN.session_id)


async def test_a_letter_that_was_changed_within_a_text_is_named(home: Path, stores: Stores) -> None:
    path = home / "sessions" / OPEN.session_id / "events.jsonl"
    path.write_bytes(path.read_bytes().replace(b"begin", b"began", 1))
    assert await repaired(stores) == [(f"sessions/{OPEN.session_id}/events.jsonl", "damaged")]


async def test_a_session_that_has_its_answer_stays(home: Path, stores: Stores) -> None:
    garble(home / "sessions" / ENDED.session_id / "events.jsonl")
    before = files(home / "sessions")
    (finding,) = await found(stores, repair=True)
    assert (finding.kind, finding.repair) == ("damaged", None)
    assert files(home / "sessions") == before
    assert await stores.sessions.load_record(ENDED.session_id) == ENDED


async def test_one_of_a_newer_version_is_left_to_it(home: Path, stores: Stores) -> None:
    path = home / "sessions" / OPEN.session_id / "session.json"
    path.write_bytes(path.read_bytes().replace(b'"version":3', b'"version":4'))
    (finding,) = await found(stores, repair=True)
    assert (finding.kind, finding.repair) == ("newer", None)
    assert path.exists()


async def test_what_a_crash_left_is_taken_out(home: Path, stores: Stores) -> None:
    folder = home / "sessions" / OPEN.session_id
    with (folder / "events.jsonl").open("ab") as file:
        file.write(b'{"half')
    (folder / ".session.json.tmp").write_bytes(b"half")
    (home / "sessions" / f".{new_session_id(9)}.tmp").mkdir()
    assert set(await repaired(stores)) == {
        (f"sessions/{OPEN.session_id}/events.jsonl", "leftover"),
        (f"sessions/{OPEN.session_id}/.session.json.tmp", "leftover"),
        (f"sessions/.{new_session_id(9)}.tmp", "leftover"),
    }
    assert (home / "lost+found" / "sessions" / OPEN.session_id / "events.jsonl").read_bytes() == b'{"half'
    assert (await stores.sessions.load(OPEN.session_id)).events == events(3)


async def test_what_is_no_session_is_taken_out(home: Path, stores: Stores) -> None:
    folder = home / "sessions"
    (folder / "README").write_bytes(b"mine")
    (folder / OPEN.session_id / "notes.txt").write_bytes(b"mine")
    (folder / OPEN.session_id / "folder").mkdir()
    (folder / new_session_id(9)).mkdir()
    assert set(await repaired(stores)) == {
        ("sessions/README", "unknown"),
        (f"sessions/{OPEN.session_id}/notes.txt", "unknown"),
        (f"sessions/{OPEN.session_id}/folder", "unknown"),
        (f"sessions/{new_session_id(9)}", "orphaned"),
    }


async def test_what_somebody_is_in_the_middle_of_is_no_fault(home: Path, stores: Stores) -> None:
    folder = home / "sessions" / OPEN.session_id
    hidden = home / "sessions" / f".{new_session_id(9)}.tmp"
    async with await stores.sessions.claim(OPEN.session_id) as claim:
        (folder / ".session.json.tmp").write_bytes(b"half")
        index = SessionIndex(Home(home), list)
        with index.vanishing(new_session_id(9)):
            hidden.mkdir()
            assert await found(stores, repair=True) == []
        index.close()
        garble(folder / "header.json")
        assert [finding.kind for finding in await found(stores, repair=True)] == ["damaged", "leftover"]
        assert folder.exists()
        await stores.sessions.store(claim, moved(OPEN), events(since=3))
