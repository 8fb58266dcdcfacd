"""What only files can do to runs: crash halfway, fill the disk, be shared by processes, be left behind."""

import resource
import stat
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.wf_artifacts.obstacles import OBSTACLES, replace
from tests.wf_artifacts.points import at_change, no_room
from tests.wf_artifacts.samples import (
    Start,
    checkpoint,
    environment,
    following,
    inputs,
    new_run_id,
    record,
    start_and_release,
    trace,
)
from wf_artifacts.errors import StoreFull, StoreUnavailable
from wf_artifacts.runs.store import RunStore
from wf_artifacts.storage import threads
from wf_artifacts.storage.steps import Step, observed
from wf_artifacts.stores import open_stores
from wf_core.errors import StateCorrupt, StateError

pytestmark = pytest.mark.anyio


@pytest.fixture
def runs(home: Path) -> RunStore:
    return open_stores(f"file://{home}").runs


def leftovers(home: Path) -> list[Path]:
    return [path for path in home.rglob("*") if path.name.endswith(".tmp")]


def contents(home: Path) -> dict[str, bytes]:
    """Give every file but the locks, and the index, which may say more than there is."""
    files = (path for path in home.rglob("*") if path.is_file() and not path.name.endswith("lock"))
    files = (path for path in files if path.parent.name != "index")
    return {str(path.relative_to(home)): path.read_bytes() for path in files}


def modes(home: Path) -> tuple[set[int], set[int]]:
    """Give the modes of all folders and of all files."""
    paths = [home, *home.rglob("*")]
    folders, files = (
        {stat.S_IMODE(path.stat().st_mode) for path in paths if path.is_dir() is kind} for kind in (True, False)
    )
    return folders, files


class TestSyncing:
    @pytest.mark.parametrize(("seconds", "at_once"), [(60.0, True), (0.0, False)])
    async def test_inputs_are_synced_where_that_costs_less(
        self, runs: RunStore, monkeypatch: pytest.MonkeyPatch, seconds: float, at_once: bool
    ) -> None:
        """Handing a write to a thread costs as much as a fast disk does; the first sync tells which this one is."""
        monkeypatch.setattr(threads, "AT_ONCE_SECONDS", seconds)
        in_loop: list[bool] = []

        def note(step: Step) -> None:
            if (step.act, step.moment) == ("fsync", "before") and step.what.startswith("inputs_"):
                in_loop.append(threading.current_thread() is threading.main_thread())

        begun = record()
        claim = (await runs.create(begun, environment(), checkpoint(begun))).claim
        assert claim is not None
        first, second = inputs(begun, 2)
        with observed(note):
            await runs.append(claim, [first], sync=True)
            await runs.append(claim, [second], sync=True)
        await claim.release()
        assert in_loop == [False, at_once]


class TestLooking:
    async def test_looking_never_gets_into_the_way_of_a_claim(self, runs: RunStore) -> None:
        begun = record()
        await start_and_release(runs, begun)
        async with anyio.create_task_group() as tasks:

            async def look() -> None:
                while True:
                    await runs.is_claimed(begun.run_id)

            for _ in range(4):
                tasks.start_soon(look)
            for _ in range(30):
                async with await runs.claim(begun.run_id):
                    pass
            tasks.cancel_scope.cancel()

    async def test_a_list_leaves_a_run_under_way_to_whoever_goes_on_with_it(self, home: Path, runs: RunStore) -> None:
        """It looks at each that it is the first to list: there is nothing to clear up that its next holder does not."""
        begun, folder = record(), home / "runs" / new_run_id()
        await start_and_release(runs, begun)
        whole = contents(home)
        for left in (".run.json.tmp", "checkpoints/000002.json", "journal/inputs_000001.jsonl"):
            (folder / left).write_bytes(b"half of som")
        with_leftovers = contents(home)
        async with await runs.claim(begun.run_id):
            pass
        assert contents(home) == whole
        for path, data in with_leftovers.items():
            (home / path).write_bytes(data)
        assert (await runs.list_runs(principal=None, limit=5)).items == (begun,)
        assert await runs.abandoned() == [begun.run_id]
        assert contents(home) == with_leftovers


class TestObstacles:
    @pytest.mark.parametrize("obstacle", OBSTACLES)
    async def test_what_stands_in_the_place_of_a_document_hides_no_other_run(
        self, home: Path, runs: RunStore, obstacle: str
    ) -> None:
        """Another user's file, a folder, a pipe: whatever it is, the other runs are listed, and taken over."""
        for number in range(3):
            await start_and_release(runs, record(new_run_id(number)))
        await runs.list_runs(principal=None, limit=10)
        replace(home / "runs" / new_run_id(1) / "run.json", obstacle)
        for others in (runs, open_stores(f"file://{home}").runs):
            with anyio.fail_after(5):
                page = await others.list_runs(principal=None, limit=10)
                assert [run.run_id for run in page.items] == [new_run_id(2), new_run_id(0)]
                assert [damaged.identifier for damaged in page.damaged] == [new_run_id(1)]
                assert await others.abandoned() == [new_run_id(2), new_run_id(0)]

    @pytest.mark.parametrize("obstacle", OBSTACLES)
    @pytest.mark.parametrize("place", ["lock", "journal/inputs_000002.jsonl", "journal/000001.jsonl"])
    async def test_no_obstacle_is_waited_for(self, home: Path, runs: RunStore, obstacle: str, place: str) -> None:
        begun = record()
        claim = (await runs.create(begun, environment(), checkpoint(begun))).claim
        assert claim is not None
        moved = following(begun, entries=2)
        await runs.commit(claim, moved, checkpoint=checkpoint(moved), trace=trace(begun, 2))
        await runs.append(claim, inputs(moved, 2), sync=True)
        await claim.release()
        replace(home / "runs" / begun.run_id / place, obstacle)
        with anyio.fail_after(5):
            for read in (runs.is_claimed(begun.run_id), runs.read_trace(begun.run_id, 0, 5), runs.load(begun.run_id)):
                with suppress(StateError, StoreUnavailable):
                    await read


class TestDamage:
    async def test_a_run_without_its_journal_is_damaged_and_not_gone_on_with(self, home: Path, runs: RunStore) -> None:
        begun = record()
        claim = (await runs.create(begun, environment(), checkpoint(begun))).claim
        assert claim is not None
        moved = following(begun, entries=2)
        await runs.commit(claim, moved, checkpoint=checkpoint(moved), trace=trace(begun, 2))
        await claim.release()
        path = home / "runs" / begun.run_id / "journal"
        path.rename(home / "lost")
        with pytest.raises(StateCorrupt, match=r"/journal is damaged"):
            await runs.claim(begun.run_id)
        assert not await runs.is_claimed(begun.run_id)
        (home / "lost").rename(path)
        async with await runs.claim(begun.run_id) as again:
            after = following(moved)
            await runs.commit(again, after, checkpoint=checkpoint(after), trace=trace(moved))


class TestFailing:
    async def test_a_creation_that_fails_anywhere_leaves_nothing(self, home: Path, runs: RunStore) -> None:
        await start_and_release(runs, record(new_run_id(1), idempotency_key="other"))
        before = contents(home)
        for point in range(100):
            begun = record(new_run_id(100 + point), idempotency_key="k")
            with at_change(point, no_room) as reached:
                try:
                    made = await runs.create(begun, environment(), checkpoint(begun))
                except StoreFull:
                    made = None
            if made is not None:
                assert made.claim is not None
                await made.claim.release()
                await runs.delete(begun.run_id)
            assert contents(home) == before
            assert leftovers(home) == []
            if not reached():
                break

    @pytest.mark.parametrize("once", [True, False])
    async def test_a_commit_that_fails_anywhere_leaves_the_state_before_or_after(
        self, home: Path, runs: RunStore, start: Start, once: bool
    ) -> None:
        begun = record()
        claim = await start(begun)
        points = 0
        for point in range(100):
            earlier = await runs.load(begun.run_id)
            before = contents(home)
            moved = following(earlier, entries=2, output={"text": "x" * 1000})
            state = checkpoint(moved, b'{"steps":%d}' % point)
            with at_change(point, no_room, once=once) as reached, suppress(StoreFull):
                await runs.commit(claim, moved, checkpoint=state, trace=trace(earlier, 2))
            stored = await runs.load(begun.run_id)
            assert stored in (earlier, moved)
            assert (await runs.load_checkpoint(begun.run_id)).sequence == stored.checkpoint
            assert len(await runs.read_trace(begun.run_id, 0, 1000)) == stored.trace_count
            if once and stored == earlier:
                assert contents(home) == before
            if not reached():
                assert stored == moved
                break
            points += 1
        assert points > 8
        assert leftovers(home) == []

    async def test_a_file_that_may_not_grow_is_a_full_store(self, home: Path, runs: RunStore, start: Start) -> None:
        begun = record()
        claim = await start(begun)
        before = contents(home)
        large = following(begun, output={"text": "x" * 300_000})
        other = record(new_run_id(2), output={"text": "x" * 300_000}, idempotency_key="k")
        with files_of_at_most(200_000):
            with pytest.raises(StoreFull) as refused:
                await runs.commit(claim, large, checkpoint=checkpoint(large), trace=trace(begun))
            with pytest.raises(StoreFull):
                await runs.create(other, environment(), checkpoint(other))
        assert refused.value.code == "store_full"
        assert contents(home) == before
        await runs.commit(claim, large, checkpoint=checkpoint(large), trace=trace(begun))
        assert await runs.load(begun.run_id) == large

    async def test_a_home_that_is_no_folder_is_unavailable(self, home: Path, runs: RunStore) -> None:
        await anyio.Path(home).write_text("not a folder", encoding="utf-8")
        begun = record()
        for attempt in (
            runs.list_runs(principal=None, limit=1),
            runs.load(begun.run_id),
            runs.claim(begun.run_id),
            runs.create(begun, environment(), checkpoint(begun)),
        ):
            with pytest.raises(StoreUnavailable) as refused:
                await attempt
            assert str(home) not in f"{refused.value} {refused.value.details}"

    async def test_a_cancelled_caller_does_not_tear_a_commit(self, runs: RunStore, start: Start) -> None:
        begun = record()
        claim = await start(begun)
        moved = following(begun)
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self.commit, runs, claim, moved)
                await anyio.wait_all_tasks_blocked()
                scope.cancel()
        assert await runs.load(begun.run_id) == moved
        assert (await runs.load_checkpoint(begun.run_id)).sequence == 2

    @staticmethod
    async def commit(runs: RunStore, claim: Any, moved: Any) -> None:
        await runs.commit(claim, moved, checkpoint=checkpoint(moved), trace=[b"{}"])


@contextmanager
def files_of_at_most(size: int) -> Generator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


class TestLeftovers:
    async def test_a_run_that_is_being_made_is_neither_listed_nor_removed(
        self, home: Path, runs: RunStore, start: Start
    ) -> None:
        begun = record()
        await start(begun)
        folder = home / "runs" / begun.run_id
        hidden = folder.rename(folder.with_name(f".{begun.run_id}.tmp"))
        assert (await runs.list_runs(principal=None, limit=10)).items == ()
        assert hidden.is_dir()

    async def test_strange_names_are_not_listed(self, home: Path, runs: RunStore) -> None:
        await start_and_release(runs, record())
        (home / "runs" / "README").write_text("not a run", encoding="utf-8")
        (home / "runs" / "empty").mkdir()
        (home / "runs" / ".hidden").mkdir()
        page = await runs.list_runs(principal=None, limit=10)
        assert ([run.run_id for run in page.items], page.damaged) == ([new_run_id()], ())

    async def test_only_the_latest_checkpoint_is_kept(self, home: Path, runs: RunStore, start: Start) -> None:
        begun = record()
        claim = await start(begun)
        for _ in range(3):
            moved = following(begun)
            await runs.commit(claim, moved, checkpoint=checkpoint(moved), trace=trace(begun))
            begun = moved
        assert [path.name for path in (home / "runs" / begun.run_id / "checkpoints").iterdir()] == ["000004.json"]

    async def test_only_the_owner_may_read(self, home: Path, runs: RunStore) -> None:
        await start_and_release(runs, record(idempotency_key="k"))
        assert modes(home) == ({0o700}, {0o600})
