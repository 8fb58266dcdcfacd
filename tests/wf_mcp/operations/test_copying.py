"""Copying one store to another."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.wf_artifacts.calls.samples import continuation, delivery, token
from tests.wf_artifacts.samples import LATER, NOW, checkpoint, environment, following, inputs, new_run_id, record, trace
from tests.wf_artifacts.sessions.samples import begin_and_release, events, moved, new_session_id, session
from tests.wf_mcp.scripted import ask, child, node, opened, plan
from wf_artifacts.errors import InvalidStoreUrl, NotAStore, RunBusy, SessionBusy, UnfinishedCopy, UnfitTarget
from wf_artifacts.stores import Stores, open_stores
from wf_core.ids import ArtifactId
from wf_mcp.errors import InvalidArgument
from wf_mcp.operations import copying
from wf_mcp.operations.artifacts import delete_artifact, save_artifact
from wf_mcp.operations.copying import copy_store
from wf_mcp.operations.deployments import create_deployment
from wf_mcp.operations.runs import inspect_run, list_runs, resume_run, run_deployment

pytestmark = pytest.mark.anyio

ASK = plan(
    {"ask": ask(resume={"state.said": "said"}), "now": node("wf.std.now")}, state_schema={"properties": {"said": {}}}
)


@pytest.fixture
def source(tmp_path: Path) -> str:
    return (tmp_path / "source").as_uri()


@pytest.fixture(params=["file", "sqlite"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return (tmp_path / "target").as_uri() if request.param == "file" else f"sqlite:///{tmp_path}/target.db"


async def fill(stores: Stores) -> dict[str, str]:
    """Store a bit of everything; give the ids of the runs."""
    async with opened(stores=stores) as app:
        for name in ("a", "b", "c"):
            await save_artifact(app, artifact_id="inner", plan=plan({"now": node("wf.std.now")}, description=name))
        await save_artifact(app, artifact_id="gone", plan=ASK)
        await delete_artifact(app, artifact_id="gone")
        await delete_artifact(app, artifact_id="inner", version=3)
        await delete_artifact(app, artifact_id="inner", version=1)
        await save_artifact(app, artifact_id="flow", plan=ASK)
        outer = plan({"inner": child("inner", version=2), "end": {"type": "end"}})
        await save_artifact(app, artifact_id="outer", plan=outer)
        ids: dict[str, str] = {}
        for name in ("flow", "outer"):
            await create_deployment(app, deployment_id=name, artifact_id=name)
            ids[name] = str((await run_deployment(app, deployment_id=name, idempotency_key="k")).run_id)
        return ids


async def everything(stores: Stores) -> dict[str, Any]:
    """Read all that is kept."""
    runs = (await stores.runs.list_runs(principal=None, limit=100)).items
    catalog = stores.catalog
    return {
        "last": await catalog.last_versions(),
        "artifacts": await catalog.list_artifacts(limit=100),
        "deployments": await catalog.list_deployments(limit=100),
        "runs": runs,
        "rest": [
            (
                await stores.runs.load_environment(run.run_id),
                await stores.runs.load_checkpoint(run.run_id),
                await stores.runs.load_journal(run.run_id),
                await stores.runs.read_trace(run.run_id, 0, 10_000),
            )
            for run in runs
        ],
    }


async def test_a_copy_is_the_same_and_its_runs_go_on(source: str, target: str) -> None:
    async with open_stores(source) as stores:
        ids = await fill(stores)
    copied = await copy_store(source, target)
    assert (copied.artifacts, copied.deployments, copied.runs, copied.left_out) == (3, 2, 2, [])
    async with open_stores(source) as origin, open_stores(target) as copy:
        assert await everything(copy) == await everything(origin)
        assert (await copy.catalog.last_versions())[ArtifactId("inner")] == 3
    async with open_stores(target) as copy, opened(stores=copy) as app:
        again = await run_deployment(app, deployment_id="outer", idempotency_key="k")
        assert again.run_id == ids["outer"]
        done = await resume_run(app, run_id=ids["flow"], resume_payload={"said": "yes"})
        assert done.status == "completed"
        assert (await inspect_run(app, run_id=ids["flow"])).status == "completed"
    async with open_stores(source) as origin, opened(stores=origin) as app:
        assert {run.status for run in (await list_runs(app)).runs} == {"interrupted", "completed"}


async def test_the_inputs_since_a_checkpoint_and_a_long_trace_come_along(
    source: str, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "_ENTRIES_AT_ONCE", 7)
    begun = record(principal="somebody")
    async with open_stores(source) as origin:
        claim = (await origin.runs.create(begun, environment(), checkpoint(begun))).claim
        assert claim is not None
        moved = following(begun, entries=20, steps_executed=20)
        await origin.runs.commit(claim, moved, checkpoint=checkpoint(moved), trace=trace(begun, 20))
        await origin.runs.append(claim, inputs(moved, 5), sync=True)
        await claim.release()
    assert (await copy_store(source, target)).runs == 1
    async with open_stores(source) as origin, open_stores(target) as copy:
        found = await everything(copy)
        assert found == await everything(origin)
        assert found["runs"][0].trace_count == 25


async def test_sessions_come_along_with_every_event(source: str, target: str) -> None:
    begun = [session(new_session_id(number), status="waiting", principal=f"p{number}") for number in range(3)]
    async with open_stores(source) as origin:
        await begin_and_release(origin.sessions, *begun, given=events(50))
        async with await origin.sessions.claim(begun[0].session_id):
            with pytest.raises(SessionBusy):
                await copy_store(source, f"{target}-refused")
    assert (await copy_store(source, target)).sessions == 3
    async with open_stores(source) as origin, open_stores(target) as copy:
        for one in begun:
            assert await copy.sessions.load(one.session_id) == await origin.sessions.load(one.session_id)
            async with await copy.sessions.claim(one.session_id) as claim:
                record = await copy.sessions.load_record(one.session_id)
                await copy.sessions.store(claim, moved(record), events(since=50))
    with pytest.raises(InvalidArgument, match="holds something"):
        await copy_store(source, target)


async def test_a_damaged_session_is_left_out_and_named(source: str, target: str, tmp_path: Path) -> None:
    async with open_stores(source) as origin:
        await begin_and_release(origin.sessions, *(session(new_session_id(number)) for number in range(3)))
    home = tmp_path / "source" / "sessions"
    (home / new_session_id(0) / "session.json").write_text("{", encoding="utf-8")
    (home / new_session_id(1) / "header.json").write_text("{", encoding="utf-8")
    copied = await copy_store(source, target)
    assert (copied.sessions, len(copied.left_out)) == (1, 2)


async def test_waiting_calls_and_cached_results_come_along(source: str, target: str, tmp_path: Path) -> None:
    async with open_stores(source) as origin:
        calls = origin.continuations
        for number in range(130):
            await calls.put(continuation(number, expires_at=LATER if number % 2 else None))
        await calls.deliver(token(3), delivery("done"), principal=None, now=NOW)
        await calls.close(token(4), now=NOW)
        for key in ("one", "two"):
            await origin.cache.put(key, {"key": key}, now=NOW)
    copied = await copy_store(source, target)
    assert (copied.calls, copied.cached_results, copied.left_out) == (130, 2, [])
    async with open_stores(source) as origin, open_stores(target) as copy:
        every = [await stores.continuations.list_all(limit=200) for stores in (origin, copy)]
        assert every[0] == every[1]
        assert await copy.cache.list_all(limit=10) == await origin.cache.list_all(limit=10)
        late = await copy.continuations.deliver(token(3), delivery("late"), principal=None, now=NOW)
        assert (late, await copy.cache.get("two")) == ("already_completed", {"key": "two"})
    with pytest.raises(InvalidArgument, match="holds something"):
        await copy_store(source, target)


async def test_a_damaged_call_is_left_out_and_named(source: str, target: str, tmp_path: Path) -> None:
    async with open_stores(source) as origin:
        for number in range(2):
            await origin.continuations.put(continuation(number))
        await origin.cache.put("key", 1, now=NOW)
    for room in ("calls", "cache"):
        (damaged, *_) = sorted((tmp_path / "source" / room).rglob("*.json"))
        damaged.write_text("{", encoding="utf-8")
    copied = await copy_store(source, target)
    assert (copied.calls, copied.cached_results, len(copied.left_out)) == (1, 0, 2)


async def test_nothing_is_copied_over_anything(source: str, target: str) -> None:
    async with open_stores(source) as stores:
        await fill(stores)
    await copy_store(source, target)
    for place, refusal in ((target, "holds something"), (source, "are the same store")):
        async with open_stores(place) as stores:
            before = await everything(stores)
        with pytest.raises(InvalidArgument, match=refusal):
            await copy_store(source, place)
        async with open_stores(place) as stores:
            assert await everything(stores) == before


@pytest.mark.parametrize("address", ["file://{}", "sqlite:///{}/wf.db"])
async def test_a_store_is_not_copied_to_itself_by_another_address(tmp_path: Path, address: str) -> None:
    """Nor marked as a part of itself, where it is empty."""
    store = tmp_path / "store"
    store.mkdir()
    (tmp_path / "link").symlink_to(store)
    source = address.format(store)
    async with open_stores(source) as stores:
        before = await everything(stores)
    kept = names(store)
    for other in (tmp_path / "link", store / ".." / "store"):
        with pytest.raises(InvalidArgument, match="are the same store"):
            await copy_store(source, address.format(other))
    assert names(store) == kept
    async with open_stores(source) as stores:
        assert await everything(stores) == before


@pytest.mark.parametrize("end", ["-wal", "-journal", "-shm", "-lock", "-copy-lock", "-owner-1", "-WAL"])
async def test_a_file_that_sqlite_keeps_beside_the_source_is_no_target(tmp_path: Path, end: str) -> None:
    """SQLite would write over the copy, or take it for changes of the source."""
    source = f"sqlite:///{tmp_path}/wf.db"
    async with open_stores(source) as origin:
        await fill(origin)
        before = await everything(origin)
    with pytest.raises(UnfitTarget, match="beside a database"):
        await copy_store(source, f"{source}{end}")
    assert names(tmp_path) == ["wf.db"]
    async with open_stores(source) as origin:
        assert await everything(origin) == before


async def test_what_is_none_of_ours_is_no_target_and_stays_as_it_is(source: str, tmp_path: Path) -> None:
    async with open_stores(source) as origin:
        await fill(origin)
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "text").write_text("Dear store,\n", encoding="utf-8")
    with closing(sqlite3.connect(theirs / "places.sqlite")) as other:
        other.execute("CREATE TABLE places (name)")
    before = [(path.name, path.read_bytes()) for path in sorted(theirs.iterdir())]
    inside = f"{source}/runs", f"sqlite:///{tmp_path}/source/index/copy.db"
    for target in (f"sqlite:///{theirs}/text", f"sqlite:///{theirs}/places.sqlite", theirs.as_uri(), *inside):
        with pytest.raises(UnfitTarget):
            await copy_store(source, target)
    assert [(path.name, path.read_bytes()) for path in sorted(theirs.iterdir())] == before
    async with open_stores(source) as origin:
        assert [one async for one in origin.examine()] == []


@pytest.mark.parametrize("told", [1, 3, 6])
async def test_a_copy_that_came_to_no_end_is_used_by_nobody_and_begun_anew(source: str, target: str, told: int) -> None:
    class Torn(Exception):
        pass

    async def tear(done: float, _what: str) -> None:
        if done == told:
            raise Torn

    async with open_stores(source) as origin:
        await fill(origin)
        await begin_and_release(origin.sessions, session(new_session_id(1)), given=events(3))
        await origin.continuations.put(continuation(1))
        await origin.cache.put("key", 1, now=NOW)
        before = await everything(origin)
    async with open_stores(target) as server:
        assert await server.catalog.last_versions() == {}
        with pytest.raises(Torn):
            await copy_store(source, target, progress=tear)
        with pytest.raises(UnfinishedCopy):
            await server.sessions.create(session(new_session_id(2)), b"{}")
    for _ in range(2):
        with pytest.raises(Torn):
            await copy_store(source, target, progress=tear)
        async with open_stores(target) as part:
            with pytest.raises(UnfinishedCopy, match="part of a copy") as refused:
                await part.runs.list_runs(principal=None, limit=1)
            assert "wf store copy" in str(refused.value.hint)
            with pytest.raises(UnfinishedCopy):
                await part.sessions.create(session(new_session_id(2)), b"{}")
            with pytest.raises(UnfinishedCopy):
                assert [one async for one in part.examine(repair=True)] == []
        with pytest.raises(UnfinishedCopy):
            await copy_store(target, f"{target}-copy")
    copied = await copy_store(source, target)
    assert (copied.runs, copied.sessions, copied.calls, copied.cached_results, copied.left_out) == (2, 1, 1, 1, [])
    async with open_stores(target) as copy:
        assert await everything(copy) == before


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


@pytest.mark.parametrize("address", ["file://{}/nothing", "sqlite:///{}/nothing.db"])
async def test_what_is_not_there_is_not_copied_and_not_made(tmp_path: Path, target: str, address: str) -> None:
    with pytest.raises(InvalidArgument, match="no store at the address"):
        await copy_store(address.format(tmp_path), target)
    assert names(tmp_path) == []


async def test_a_run_that_somebody_advances_is_not_copied(source: str, target: str) -> None:
    begun = record()
    async with open_stores(source) as origin:
        claim = (await origin.runs.create(begun, environment(), checkpoint(begun))).claim
        assert claim is not None
        with pytest.raises(RunBusy):
            await copy_store(source, target)
        await claim.release()


async def test_what_is_damaged_is_left_out_and_named(source: str, target: str, tmp_path: Path) -> None:
    async with open_stores(source) as origin:
        await fill(origin)
        for number in range(3):
            begun = record(new_run_id(number))
            claim = (await origin.runs.create(begun, environment(), checkpoint(begun))).claim
            assert claim is not None
            await origin.runs.commit(claim, begun.model_copy(update={"trace_count": 2}), trace=trace(begun, 2))
            await claim.release()
    home = tmp_path / "source"
    (home / "runs" / new_run_id(0) / "run.json").write_text("{", encoding="utf-8")
    (home / "runs" / new_run_id(1) / "journal" / "000001.jsonl").write_text("{", encoding="utf-8")
    (home / "artifacts" / "flow" / "000001.json").write_text("{", encoding="utf-8")
    copied = await copy_store(source, target)
    assert (copied.artifacts, copied.deployments, copied.runs) == (2, 1, 3)
    told = " ".join(one.message for one in copied.left_out)
    assert len(copied.left_out) == 4
    for name in (f"{new_run_id(0)}/run.json", f"{new_run_id(1)}/journal", "flow/000001.json", "artifact 'flow'"):
        assert name in told
    async with open_stores(target) as copy:
        runs = (await copy.runs.list_runs(principal=None, limit=10)).items
        assert new_run_id(1) not in [run.run_id for run in runs]


async def test_rows_that_no_list_names_are_named_as_left_out(tmp_path: Path, target: str) -> None:
    """Their ids are no text."""
    source = f"sqlite:///{tmp_path}/wf.db"
    async with open_stores(source) as origin:
        ids = await fill(origin)
    with closing(sqlite3.connect(tmp_path / "wf.db", isolation_level=None)) as hand:
        hand.execute("UPDATE wf_runs SET run_id = x'7a7a' WHERE run_id = ?", (ids["flow"],))
        hand.execute("UPDATE wf_deployments SET deployment_id = x'7a7a' WHERE deployment_id = 'flow'")
    copied = await copy_store(source, target)
    assert (copied.deployments, copied.runs) == (1, 1)
    told = " ".join(one.message for one in copied.left_out)
    assert "wf_runs where " in told
    assert "wf_deployments where deployment_id = X'7A7A'" in told


async def test_what_is_none_of_ours_is_not_copied_and_stays_as_it_is(tmp_path: Path, target: str) -> None:
    theirs = tmp_path / "places.sqlite"
    with closing(sqlite3.connect(theirs)) as other:
        other.execute("CREATE TABLE places (name)")
    before = theirs.read_bytes()
    with pytest.raises(NotAStore, match="another program"):
        await copy_store(f"sqlite:///{theirs}", target)
    assert names(tmp_path) == ["places.sqlite"]
    assert theirs.read_bytes() == before


async def test_what_is_no_address_is_refused(tmp_path: Path) -> None:
    source = tmp_path.as_uri()
    for addresses in ((source, "ftp://example.org/store"), ("ftp://example.org/store", source)):
        with pytest.raises(InvalidStoreUrl):
            await copy_store(*addresses)
