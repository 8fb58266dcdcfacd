"""What a store of runs finds again until it is deleted, and how processes share it, held against every backend."""

from datetime import timedelta
from typing import Any

import pytest

from tests.wf_artifacts.children import children
from tests.wf_artifacts.conftest import Shared
from tests.wf_artifacts.samples import (
    NOW,
    Start,
    checkpoint,
    environment,
    following,
    new_run_id,
    record,
    start_and_release,
    trace,
)
from wf_artifacts.errors import InvalidCursor, RunBusy, RunNotFound
from wf_artifacts.runs.store import RunStore
from wf_artifacts.storage.digests import json_digest
from wf_artifacts.stores import open_stores
from wf_core.ids import DeploymentId, RunId

pytestmark = pytest.mark.anyio


class TestReadingTheTrace:
    async def test_any_slice_of_entries(self, runs: RunStore, start: Start) -> None:
        begun = record()
        claim = await start(begun)
        for entries in (1, 9, 30):
            moved = following(begun, entries=entries)
            await runs.commit(claim, moved, checkpoint=checkpoint(moved), trace=trace(begun, entries))
            begun = moved
        for first in (0, 1, 5, 38, 39, 40, 1000):
            for limit in (1, 3, 100):
                found = await runs.read_trace(begun.run_id, first, limit)
                assert [entry["index"] for entry in found] == list(range(40))[first : first + limit]

    async def test_a_run_without_entries_has_an_empty_trace(self, runs: RunStore, start: Start) -> None:
        begun = record()
        await start(begun)
        assert await runs.read_trace(begun.run_id, 0, 10) == []

    async def test_entries_of_any_length_keep_their_values(self, runs: RunStore) -> None:
        begun = record(trace_count=3)
        entries = [b'{"x":"%s"}' % (b"a" * size) for size in (1, 100_000, 5)]
        made = await runs.create(begun, environment(), checkpoint(begun), trace=entries)
        assert made.claim is not None
        await made.claim.release()
        assert [len(entry["x"]) for entry in await runs.read_trace(begun.run_id, 0, 3)] == [1, 100_000, 5]
        assert [len(entry["x"]) for entry in await runs.read_trace(begun.run_id, 2, 1)] == [5]


class TestListing:
    async def test_the_newest_run_comes_first(self, runs: RunStore) -> None:
        ids = [new_run_id(7 - number, NOW + timedelta(seconds=number)) for number in range(5)]
        await start_and_release(runs, *(record(run_id) for run_id in ids))
        page = await runs.list_runs(principal="local", limit=10)
        assert [run.run_id for run in page.items] == ids[::-1]
        assert page.next_cursor is None

    async def test_pages_meet_every_run_of_one_instant_exactly_once(self, runs: RunStore) -> None:
        ids = {new_run_id(number) for number in range(25)}
        await start_and_release(runs, *(record(run_id) for run_id in ids))
        met = await walk(runs, limit=4)
        assert len(met) == 25
        assert set(met) == ids

    async def test_runs_added_and_deleted_between_pages_disturb_nobody(self, runs: RunStore) -> None:
        ids = [new_run_id(number) for number in range(0, 12, 2)]
        await start_and_release(runs, *(record(run_id) for run_id in ids))
        first = await runs.list_runs(principal="local", limit=3)
        await start_and_release(runs, record(new_run_id(9)), record(new_run_id(1)), record(new_run_id(99)))
        await runs.delete(first.items[-1].run_id)
        second = await runs.list_runs(principal="local", limit=10, cursor=first.next_cursor)
        assert [run.run_id for run in first.items] == [ids[5], ids[4], ids[3]]
        assert [run.run_id for run in second.items] == [ids[2], new_run_id(1 + 1), new_run_id(1), ids[0]]

    @pytest.mark.parametrize(
        ("asked", "expected"),
        [
            ({"principal": None}, {0, 1, 2, 3}),
            ({"principal": "local"}, {0, 1, 2}),
            ({"principal": "local", "status": "completed"}, {1}),
            ({"principal": "local", "deployment_id": DeploymentId("other")}, {2}),
            ({"principal": "nobody"}, set[int]()),
        ],
    )
    async def test_only_what_is_asked_for(self, runs: RunStore, asked: dict[str, Any], expected: set[int]) -> None:
        kinds = [{}, {"status": "completed"}, {"deployment_id": "other"}, {"principal": "other"}]
        await start_and_release(runs, *(record(new_run_id(number), **kind) for number, kind in enumerate(kinds)))
        page = await runs.list_runs(**asked, limit=10)
        assert {run.run_id for run in page.items} == {new_run_id(number) for number in expected}
        first = await runs.list_runs(**asked, limit=1)
        assert (first.next_cursor is not None) == (len(expected) > 1)

    @pytest.mark.parametrize("cursor", ["", "x", "!!", "cnVuczo", "YXJ0aWZhY3RzOm5vdGVz", "\u00e9", "a" * 9999])
    async def test_a_foreign_cursor_is_refused(self, runs: RunStore, cursor: str) -> None:
        with pytest.raises(InvalidCursor) as refused:
            await runs.list_runs(principal="local", cursor=cursor, limit=10)
        assert refused.value.code == "invalid_argument"


async def walk(runs: RunStore, *, limit: int) -> list[RunId]:
    """Meet every run, page by page."""
    met: list[RunId] = []
    cursor: str | None = None
    while True:
        page = await runs.list_runs(principal="local", cursor=cursor, limit=limit)
        assert len(page.items) <= limit
        met += [run.run_id for run in page.items]
        cursor = page.next_cursor
        if cursor is None:
            return met


class TestFinding:
    @pytest.mark.parametrize("text", ["", " ", ".", "..", "../x", "a/b", "a\u0000b", "x" * 300, "\U0001f600", "run_1"])
    async def test_what_is_no_run_is_not_found(self, runs: RunStore, text: str) -> None:
        unknown = RunId(text)
        for ask in (runs.load, runs.load_environment, runs.load_checkpoint, runs.claim, runs.is_claimed, runs.delete):
            with pytest.raises(RunNotFound):
                await ask(unknown)
        with pytest.raises(RunNotFound):
            await runs.read_trace(unknown, 0, 1)

    async def test_an_unknown_id_names_close_ones(self, runs: RunStore, start: Start) -> None:
        known = new_run_id(5)
        await start(record(known))
        with pytest.raises(RunNotFound) as missing:
            await runs.load(RunId(known[:-1]))
        assert missing.value.close == (known,)

    async def test_the_runs_of_others_do_not_exist(self, runs: RunStore) -> None:
        mine, other = new_run_id(1), new_run_id(2)
        await start_and_release(runs, record(mine), record(other, principal="other"))
        with pytest.raises(RunNotFound) as missing:
            await runs.load(other, principal="local")
        assert missing.value.close == (mine,)
        assert (await runs.load(other, principal="other")).run_id == other
        assert (await runs.load(other)).run_id == other


class TestAbandonedRuns:
    async def test_running_runs_that_nobody_holds_are_found_the_newest_first(
        self, runs: RunStore, start: Start
    ) -> None:
        running = [record(new_run_id(number)) for number in range(3)]
        await start_and_release(runs, *running)
        await start_and_release(
            runs, record(new_run_id(7), status="interrupted"), record(new_run_id(8), status="failed")
        )
        held = record(new_run_id(9))
        claim = await start(held)
        assert await runs.abandoned() == [begun.run_id for begun in reversed(running)]
        await claim.release()
        assert (await runs.abandoned())[0] == held.run_id

    async def test_a_run_that_stops_or_goes_on_is_followed(self, runs: RunStore, start: Start) -> None:
        begun = record()
        claim = await start(begun)
        stopped = following(begun, entries=0, status="interrupted")
        await runs.commit(claim, stopped, checkpoint=checkpoint(stopped))
        await claim.release()
        assert await runs.abandoned() == []
        async with await runs.claim(begun.run_id) as claim:
            resumed = following(stopped, entries=0, status="running")
            await runs.commit(claim, resumed, checkpoint=checkpoint(resumed))
        assert await runs.abandoned() == [begun.run_id]
        await runs.delete(begun.run_id)
        assert await runs.abandoned() == []


class TestCrashing:
    @pytest.mark.parametrize("shared", ["postgres"], indirect=True)
    async def test_a_process_killed_at_any_moment_of_a_change_leaves_the_state_before_or_after(
        self, shared: Shared
    ) -> None:
        """Where a home can be copied, `crashes` does the same at each act of a longer story."""
        crashed: list[tuple[str, RunId]] = children("crashes", shared.url)
        shared.end_leases()
        stores = open_stores(shared.url)
        runs = stores.runs
        assert len(crashed) > 30
        ends: set[tuple[str, bool]] = set()
        for name, run_id in crashed:
            assert await self.is_whole(runs, run_id) or name != "commit"
            ends.add((name, await self.happened(runs, name, run_id)))
        assert ends == {(name, happened) for name in ("create", "commit", "delete") for happened in (True, False)}
        await self.no_key_is_burned(runs, [run_id for name, run_id in crashed if name == "create"])
        await stores.close()
        assert shared.leftovers() == []

    @staticmethod
    async def no_key_is_burned(runs: RunStore, created: list[RunId]) -> None:
        listed = [run.run_id for run in (await runs.list_runs(principal=None, limit=200)).items]
        assert len(listed) == len(set(listed)) > 10
        for run_id in listed:
            async with await runs.claim(run_id):
                pass
        for point, run_id in enumerate(created):
            again = record(new_run_id(1000 + point), idempotency_key=f"create {point}")
            made = await runs.create(again, environment(), checkpoint(again))
            assert made.created == (run_id not in listed)
            assert made.record.run_id == (again.run_id if made.created else run_id)
            if made.claim is not None:
                await made.claim.release()

    async def test_a_process_killed_while_it_commits_loses_nothing_acknowledged(self, shared: Shared) -> None:
        killed = children("kills", shared.url)
        shared.end_leases()
        stores = open_stores(shared.url)
        runs = stores.runs
        for run_id, acknowledged in killed.items():
            stored = await runs.load(run_id)
            assert stored.steps_executed >= acknowledged
            assert await self.is_whole(runs, run_id)
            async with await runs.claim(run_id) as claim:
                moved = following(stored, entries=3, steps_executed=stored.steps_executed + 1)
                state = checkpoint(moved, b'{"steps":%d}' % moved.steps_executed)
                await runs.commit(claim, moved, checkpoint=state, trace=trace(stored, 3))
            assert await self.is_whole(runs, run_id)
        await stores.close()
        assert shared.leftovers() == []

    @staticmethod
    async def is_whole(runs: RunStore, run_id: RunId) -> bool:
        """Tell whether a run is there; if so, record, checkpoint, trace and definitions agree."""
        try:
            stored = await runs.load(run_id)
        except RunNotFound:
            return False
        state = await runs.load_checkpoint(run_id)
        steps = stored.steps_executed
        assert (state.sequence, stored.checkpoint, stored.trace_count) == (steps + 1, steps + 1, 3 * steps)
        assert state.state == (b'{"steps":%d}' % steps if steps else b'{"at":"start"}')
        assert [entry["index"] for entry in await runs.read_trace(run_id, 0, 3 * steps + 1)] == list(range(3 * steps))
        assert await runs.load_environment(run_id) == environment()
        return True

    @staticmethod
    async def happened(runs: RunStore, name: str, run_id: RunId) -> bool:
        try:
            stored = await runs.load(run_id)
        except RunNotFound:
            return name == "delete"
        return name == "create" or (name == "commit" and stored.steps_executed == 1)


class TestRacing:
    async def test_of_many_processes_one_holds_a_run_and_lets_go_when_it_ends(self, shared: Shared) -> None:
        for held in children("claims", shared.url):
            assert sum(held) == 1
        shared.end_leases()
        stores = open_stores(shared.url)
        listed = await stores.runs.list_runs(principal=None, limit=100)
        assert await stores.runs.abandoned() == [run.run_id for run in listed.items]
        for run in listed.items:
            async with await stores.runs.claim(run.run_id):
                pass
        await stores.close()

    async def test_of_many_processes_with_one_key_one_creates(self, shared: Shared) -> None:
        rounds = children("keys", shared.url)
        for answers in rounds:
            assert sum(created for _, created in answers) == 1
            assert len({run_id for run_id, _ in answers}) == 1
        stores = open_stores(shared.url)
        assert len((await stores.runs.list_runs(principal=None, limit=100)).items) == len(rounds)
        await stores.close()

    async def test_many_processes_that_stop_runs_at_once_all_succeed(self, shared: Shared) -> None:
        """Nobody is told that the database is locked, however many write; and a reader keeps nobody waiting."""
        assert children("stops", shared.url) == [[25] * 8]
        stores = open_stores(shared.url)
        assert len((await stores.runs.list_runs(principal=None, status="interrupted", limit=999)).items) == 200
        await stores.close()
        assert shared.leftovers() == []


class TestDeleting:
    async def test_a_deleted_run_is_gone(self, runs: RunStore) -> None:
        begun = record()
        await start_and_release(runs, begun)
        await runs.delete(begun.run_id)
        with pytest.raises(RunNotFound):
            await runs.load(begun.run_id)
        assert (await runs.list_runs(principal=None, limit=10)).items == ()

    async def test_a_claimed_run_is_not_deleted(self, runs: RunStore, start: Start) -> None:
        begun = record()
        await start(begun)
        with pytest.raises(RunBusy):
            await runs.delete(begun.run_id)
        assert await runs.load(begun.run_id) == begun

    async def test_the_key_of_a_deleted_run_is_free(self, runs: RunStore, start: Start) -> None:
        first = record(new_run_id(1), idempotency_key="k")
        await start_and_release(runs, first)
        await runs.delete(first.run_id)
        await start(record(new_run_id(2), idempotency_key="k", input_digest=json_digest({"n": 1})))

    async def test_a_claim_of_a_deleted_run_can_be_released(self, runs: RunStore, start: Start) -> None:
        begun = record()
        claim = await start(begun)
        await claim.release()
        await runs.delete(begun.run_id)
        await claim.release()
        with pytest.raises(RunNotFound):
            await runs.claim(begun.run_id)
