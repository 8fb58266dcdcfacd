"""What a home does for many runs, and for a long one, costs what it costs for few, and for a short one."""

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.wf_artifacts.children import BIRTHS, RACERS, children
from tests.wf_artifacts.samples import checkpoint, environment, following, new_run_id, record, start_and_release, trace
from tests.wf_artifacts.sessions.samples import begin_and_release, events, moved, new_session_id, session
from wf_artifacts.errors import RunNotFound, SessionNotFound
from wf_artifacts.runs.files import trace as segments
from wf_artifacts.runs.store import RunStore
from wf_artifacts.sessions.store import SessionStore
from wf_artifacts.stores import open_stores
from wf_core.ids import RunId, SessionId

pytestmark = pytest.mark.anyio


@pytest.fixture
async def runs(memory_folder: Path) -> AsyncIterator[RunStore]:
    async with open_stores(f"file://{memory_folder}/home") as stores:
        yield stores.runs


@pytest.fixture
async def sessions(memory_folder: Path) -> AsyncIterator[SessionStore]:
    async with open_stores(f"file://{memory_folder}/home") as stores:
        yield stores.sessions


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that are read."""
    names: list[str] = []
    original = os.open

    def watched(path: Path, *args: int, **options: int) -> int:
        names.append(path.name)
        return original(path, *args, **options)

    monkeypatch.setattr(os, "open", watched)
    return names


async def test_of_many_runs_a_list_reads_those_that_it_shows(runs: RunStore, opened: list[str]) -> None:
    kinds: list[dict[str, Any]] = [
        {"status": "interrupted" if number % 100 == 0 else "completed", "principal": "local" if number % 2 else "other"}
        for number in range(400)
    ]
    await start_and_release(runs, *(record(new_run_id(number), **kind) for number, kind in enumerate(kinds)))
    lists: list[tuple[dict[str, Any], int]] = [
        ({"principal": None}, 5),
        ({"principal": "local"}, 5),
        ({"principal": None, "status": "interrupted"}, 4),
        ({"principal": "local", "status": "completed", "deployment_id": "publish"}, 5),
        ({"principal": "local", "status": "interrupted"}, 0),
        ({"principal": "nobody"}, 0),
    ]
    for asked, shown in lists:
        opened.clear()
        page = await runs.list_runs(**asked, limit=5)
        assert len(page.items) == shown
        assert shown <= opened.count("run.json") <= shown + 1


async def test_of_many_runs_the_abandoned_ones_are_read(runs: RunStore, opened: list[str]) -> None:
    await start_and_release(runs, *(record(new_run_id(number), status="completed") for number in range(100)))
    await start_and_release(runs, record(new_run_id(200)))
    for looked_at in (2, 1):  # at first it is unsettled
        opened.clear()
        assert await runs.abandoned() == [new_run_id(200)]
        assert opened.count("run.json") == looked_at


async def test_runs_that_are_under_way_are_looked_at_by_one_list_alone(runs: RunStore, opened: list[str]) -> None:
    await start_and_release(runs, *(record(new_run_id(number)) for number in range(100)))
    await runs.list_runs(principal=None, limit=5)
    opened.clear()
    assert len((await runs.list_runs(principal=None, status="running", limit=5)).items) == 5
    assert (await runs.list_runs(principal=None, status="completed", limit=5)).items == ()
    assert opened.count("run.json") <= 6


async def test_of_many_runs_close_ids_are_looked_for_among_the_newest(runs: RunStore, opened: list[str]) -> None:
    await start_and_release(runs, *(record(new_run_id(number), status="completed") for number in range(300)))
    opened.clear()
    with pytest.raises(RunNotFound) as missing:
        await runs.load(RunId(new_run_id(299)[:-1]), principal="local")
    assert new_run_id(299) in missing.value.close
    assert 0 < opened.count("run.json") <= 3


async def test_of_many_sessions_a_list_reads_those_that_it_shows(sessions: SessionStore, opened: list[str]) -> None:
    kinds: list[dict[str, Any]] = [
        {"status": "waiting" if number % 100 == 0 else "answered", "principal": "local" if number % 2 else "other"}
        for number in range(400)
    ]
    every = [session(new_session_id(number), **kind) for number, kind in enumerate(kinds)]
    await begin_and_release(sessions, *every)
    lists: list[tuple[dict[str, Any], int]] = [
        ({"principal": None}, 5),
        ({"principal": "local"}, 5),
        ({"principal": None, "status": "waiting"}, 4),
        ({"principal": "other", "status": "answered"}, 5),
        ({"principal": "local", "status": "waiting"}, 0),
        ({"principal": "nobody"}, 0),
    ]
    for asked, shown in lists:
        opened.clear()
        page = await sessions.list_sessions(**asked, limit=5)
        assert len(page.items) == shown
        assert shown <= opened.count("session.json") <= shown + 1


async def test_of_many_sessions_the_abandoned_ones_are_read(sessions: SessionStore, opened: list[str]) -> None:
    await begin_and_release(sessions, *(session(new_session_id(number), status="waiting") for number in range(100)))
    await begin_and_release(sessions, session(new_session_id(200), status="running"))
    for looked_at in (2, 1):
        opened.clear()
        assert await sessions.abandoned() == [new_session_id(200)]
        assert opened.count("session.json") == looked_at


async def test_of_many_sessions_close_ids_are_looked_for_among_the_newest(
    sessions: SessionStore, opened: list[str]
) -> None:
    await begin_and_release(sessions, *(session(new_session_id(number)) for number in range(300)))
    opened.clear()
    with pytest.raises(SessionNotFound) as missing:
        await sessions.load(SessionId(new_session_id(299)[:-1]), principal="local")
    assert new_session_id(299) in missing.value.close
    assert 0 < opened.count("session.json") <= 4


async def test_an_event_of_a_long_session_costs_what_one_of_a_short_one_costs(
    sessions: SessionStore, memory_folder: Path, opened: list[str]
) -> None:
    short, long = session(new_session_id(1), status="running"), session(new_session_id(2), status="running")
    await begin_and_release(sessions, short)
    await begin_and_release(sessions, long, given=events(5_000))
    written: list[int] = []
    for begun, count in ((short, 0), (long, 5_000)):
        async with await sessions.claim(begun.session_id) as claim:
            before = await sessions.load_record(begun.session_id)
            path = memory_folder / "home" / "sessions" / begun.session_id / "events.jsonl"
            size = path.stat().st_size
            opened.clear()
            await sessions.store(claim, moved(before), events(since=count))
            written.append(path.stat().st_size - size)
            assert sorted(opened) == [".session.json.tmp", "events.jsonl", begun.session_id]
    assert written[1] - written[0] <= 10


async def test_of_a_long_trace_little_is_read(
    runs: RunStore, opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segments, "SEGMENT_BYTES", 2_000)
    begun = record()
    made = await runs.create(begun, environment(), checkpoint(begun))
    assert made.claim is not None
    moved = following(begun, entries=20_000)
    await runs.commit(made.claim, moved, checkpoint=checkpoint(moved), trace=trace(begun, 20_000))
    await made.claim.release()
    for start, files in ((19_990, 3), (10_000, 15), (0, 15)):
        opened.clear()
        entries = await runs.read_trace(begun.run_id, start, 10)
        assert [entry["index"] for entry in entries] == list(range(start, start + 10))
        assert 0 < len(opened) <= files


@pytest.mark.parametrize("url", ["file://{home}", "sqlite:///{home}/wf.db"], ids=["file", "sqlite"])
async def test_runs_are_begun_by_processes_at_once(memory_folder: Path, url: str) -> None:
    address = url.format(home=memory_folder / "home")
    assert children("births", address) == [[BIRTHS] * RACERS]
    async with open_stores(address) as stores:
        page = await stores.runs.list_runs(principal="local", limit=2 * BIRTHS * RACERS)
        assert len(page.items) == BIRTHS * RACERS
        assert [finding async for finding in stores.examine()] == []
