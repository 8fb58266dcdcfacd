"""What `runs.store` promises, held against every backend."""

from typing import Any

import anyio
import pytest

from tests.wf_artifacts.samples import (
    LATER,
    NOW,
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
from wf_artifacts.errors import ClaimLost, IdempotencyConflict, RunBusy, RunNotFound
from wf_artifacts.runs.store import Claim, Created, RunStore
from wf_artifacts.storage.digests import json_digest
from wf_core.errors import NotJson

pytestmark = pytest.mark.anyio

ODD_VALUES: list[Any] = [
    2**64,
    -(10**400),
    0.1 + 0.2,
    -0.0,
    1e308,
    "a\u0000b",
    "e\u0301\U0001f600",
    "",
    [],
    {},
    [[[]]],
    {"": None},
    {"$truncated": True},
    None,
]


class TestCreating:
    async def test_a_new_run_is_stored_whole(self, runs: RunStore) -> None:
        begun = record(trace_count=1)
        made = await runs.create(begun, environment(), checkpoint(begun), trace=[b'{"index":0}'])
        assert made.claim is not None
        await made.claim.release()
        assert (made.record, made.created) == (begun, True)
        assert await runs.load(begun.run_id) == begun
        assert await runs.load_environment(begun.run_id) == environment()
        assert await runs.load_checkpoint(begun.run_id) == checkpoint(begun)
        assert await runs.read_trace(begun.run_id, 0, 10) == [{"index": 0}]

    async def test_a_new_run_is_claimed_from_its_first_instant(self, runs: RunStore, start: Start) -> None:
        begun = record()
        await start(begun)
        with pytest.raises(RunBusy):
            await runs.claim(begun.run_id)

    async def test_a_run_from_another_store_goes_on_from_its_checkpoint(self, runs: RunStore) -> None:
        moved = record(checkpoint=7, trace_count=1, steps_executed=9)
        made = await runs.create(moved, environment(), checkpoint(moved), trace=[b'{"index":0}'])
        assert made.claim is not None
        async with made.claim as claim:
            await runs.append(claim, inputs(moved, 2), sync=True)
        assert await runs.load_checkpoint(moved.run_id) == checkpoint(moved)
        assert len(await runs.load_journal(moved.run_id)) == 2
        assert len(await runs.read_trace(moved.run_id, 0, 10)) == 3
        async with await runs.claim(moved.run_id) as claim:
            after = following(await runs.load(moved.run_id), entries=0)
            await runs.commit(claim, after, checkpoint=checkpoint(after))
        assert (await runs.load_checkpoint(moved.run_id)).sequence == 8

    async def test_the_same_key_and_input_give_the_same_run_and_no_claim(self, runs: RunStore, start: Start) -> None:
        first = record(new_run_id(1), idempotency_key="k")
        await start(first)
        again = record(new_run_id(2), idempotency_key="k")
        made = await runs.create(again, environment(), checkpoint(again))
        assert made == Created(first, created=False, claim=None)
        with pytest.raises(RunNotFound):
            await runs.load(again.run_id)

    async def test_the_run_of_a_key_is_found_without_creating_one(self, runs: RunStore, start: Start) -> None:
        again = record(new_run_id(2), idempotency_key="k")
        assert await runs.earlier(again) is None
        first = record(new_run_id(1), idempotency_key="k")
        await start(first)
        assert await runs.earlier(again) == first
        assert await runs.earlier(record(new_run_id(2))) is None
        with pytest.raises(IdempotencyConflict):
            await runs.earlier(again.model_copy(update={"input_digest": json_digest({"n": 1})}))

    async def test_the_same_key_gives_the_run_as_it_is_by_now(self, runs: RunStore, start: Start) -> None:
        first = record(new_run_id(1), idempotency_key="k")
        done = following(first, entries=0, status="completed", outcome="ok", output={"result": 1})
        await runs.commit(await start(first), done, checkpoint=checkpoint(done))
        again = record(new_run_id(2), idempotency_key="k")
        assert (await runs.create(again, environment(), checkpoint(again))).record == done

    async def test_the_same_key_with_another_input_is_a_conflict(self, runs: RunStore, start: Start) -> None:
        first = record(new_run_id(1), idempotency_key="k")
        await start(first)
        other = record(new_run_id(2), idempotency_key="k", input_digest=json_digest({"n": 1}))
        with pytest.raises(IdempotencyConflict) as refused:
            await runs.create(other, environment(), checkpoint(other))
        assert refused.value.run_id == first.run_id
        assert [run.run_id for run in (await runs.list_runs(principal=None, limit=10)).items] == [first.run_id]

    @pytest.mark.parametrize("fields", [{"principal": "other"}, {"deployment_id": "other"}, {"idempotency_key": "K"}])
    async def test_a_key_belongs_to_a_principal_and_a_deployment(self, start: Start, fields: dict[str, Any]) -> None:
        await start(record(new_run_id(1), idempotency_key="k"))
        await start(record(new_run_id(2), **{"idempotency_key": "k"} | fields))

    @pytest.mark.parametrize("key", ["", " ", "../../x", "a" * 5000, "a\u0000b", "\U0001f600"])
    async def test_any_text_is_a_key(self, runs: RunStore, start: Start, key: str) -> None:
        first = record(new_run_id(1), idempotency_key=key)
        await start(first)
        again = record(new_run_id(2), idempotency_key=key)
        assert (await runs.create(again, environment(), checkpoint(again))).record == first

    async def test_of_many_creations_with_one_key_one_creates(self, runs: RunStore) -> None:
        made: list[Created] = []

        async def create(number: int) -> None:
            begun = record(new_run_id(number), idempotency_key="k")
            made.append(await runs.create(begun, environment(), checkpoint(begun)))

        async with anyio.create_task_group() as tasks:
            for number in range(12):
                tasks.start_soon(create, number)
        claims = [one.claim for one in made if one.claim is not None]
        assert sum(one.created for one in made) == len(claims) == 1
        await claims[0].release()
        assert len({one.record.run_id for one in made}) == 1
        assert len((await runs.list_runs(principal=None, limit=20)).items) == 1

    async def test_a_value_that_is_no_json_creates_nothing_and_uses_up_no_key(
        self, runs: RunStore, start: Start
    ) -> None:
        bad = record(new_run_id(1), idempotency_key="k", output={"x": float("nan")})
        with pytest.raises(NotJson, match="NaN"):
            await runs.create(bad, environment(), checkpoint(bad))
        with pytest.raises(RunNotFound):
            await runs.load(bad.run_id)
        await start(record(new_run_id(2), idempotency_key="k"))


class TestClaiming:
    async def test_a_released_run_can_be_claimed_again(self, runs: RunStore) -> None:
        begun = record()
        await start_and_release(runs, begun)
        async with await runs.claim(begun.run_id) as claim:
            assert claim.run_id == begun.run_id
            with pytest.raises(RunBusy):
                await runs.claim(begun.run_id)
        async with await runs.claim(begun.run_id):
            pass

    async def test_looking_whether_a_run_is_claimed_takes_no_claim(self, runs: RunStore, start: Start) -> None:
        begun = record()
        claim = await start(begun)
        assert await runs.is_claimed(begun.run_id)
        await claim.release()
        assert not await runs.is_claimed(begun.run_id)
        assert not await runs.is_claimed(begun.run_id)

    async def test_of_many_claims_at_once_one_holds(self, runs: RunStore) -> None:
        begun = record()
        await start_and_release(runs, begun)
        held: list[Claim] = []
        refused: list[RunBusy] = []

        async def claim() -> None:
            try:
                held.append(await runs.claim(begun.run_id))
            except RunBusy as error:
                refused.append(error)

        async with anyio.create_task_group() as tasks:
            for _ in range(12):
                tasks.start_soon(claim)
        assert (len(held), len(refused)) == (1, 11)
        await held[0].release()

    async def test_releasing_twice_leaves_the_next_claim_alone(self, runs: RunStore, start: Start) -> None:
        begun = record()
        first = await start(begun)
        await first.release()
        async with await runs.claim(begun.run_id):
            await first.release()
            assert await runs.is_claimed(begun.run_id)

    async def test_a_cancelled_task_still_releases(self, runs: RunStore, start: Start) -> None:
        begun = record()
        claim = await start(begun)
        with anyio.CancelScope() as scope:
            async with claim:
                scope.cancel()
                await anyio.lowlevel.checkpoint()
        assert not await runs.is_claimed(begun.run_id)


class TestCommitting:
    async def test_record_checkpoint_and_trace_change_together(self, runs: RunStore, start: Start) -> None:
        begun = record()
        claim = await start(begun)
        stopped = following(begun, entries=2, status="interrupted", interrupts=({"id": "int_1"},), updated_at=LATER)
        state = checkpoint(stopped, b'{"at":"question"}')
        await runs.commit(claim, stopped, checkpoint=state, trace=trace(begun, 2))
        assert await runs.load(begun.run_id) == stopped
        assert await runs.load_checkpoint(begun.run_id) == state
        assert [entry["index"] for entry in await runs.read_trace(begun.run_id, 0, 10)] == [0, 1]

    async def test_a_commit_without_checkpoint_keeps_the_latest(self, runs: RunStore, start: Start) -> None:
        begun = record()
        claim = await start(begun)
        moved = begun.model_copy(update={"trace_count": 1, "steps_executed": 1})
        await runs.commit(claim, moved, trace=trace(begun))
        assert await runs.load(begun.run_id) == moved
        assert await runs.load_checkpoint(begun.run_id) == checkpoint(begun)

    async def test_the_definitions_never_change(self, runs: RunStore, start: Start) -> None:
        begun = record()
        done = following(begun, entries=0, status="completed")
        await runs.commit(await start(begun), done, checkpoint=checkpoint(done))
        assert await runs.load_environment(begun.run_id) == environment()

    async def test_every_json_value_comes_back_the_same(self, runs: RunStore, start: Start) -> None:
        begun = record()
        done = following(begun, entries=0, status="completed", output=ODD_VALUES)
        await runs.commit(await start(begun), done, checkpoint=checkpoint(done))
        assert repr((await runs.load(begun.run_id)).output) == repr(ODD_VALUES)

    async def test_what_is_no_json_is_refused_and_changes_nothing(self, runs: RunStore, start: Start) -> None:
        begun = record()
        claim = await start(begun)
        for value in (float("inf"), "\ud800", {1: 2}, {1, 2}, b"x", NOW):
            bad = following(begun, output={"value": value})
            with pytest.raises(NotJson):
                await runs.commit(claim, bad, checkpoint=checkpoint(bad), trace=trace(begun))
        assert await runs.load(begun.run_id) == begun
        assert await runs.load_checkpoint(begun.run_id) == checkpoint(begun)
        good = following(begun)
        await runs.commit(claim, good, checkpoint=checkpoint(good), trace=trace(begun))
        assert await runs.load(begun.run_id) == good

    async def test_a_value_that_is_changed_afterwards_changes_nothing_stored(
        self, runs: RunStore, start: Start
    ) -> None:
        output = {"items": [1]}
        begun = record()
        done = following(begun, entries=0, output=output)
        await runs.commit(await start(begun), done, checkpoint=checkpoint(done))
        output["items"].append(2)
        (await runs.load(begun.run_id)).output["items"].append(3)
        assert (await runs.load(begun.run_id)).output == {"items": [1]}

    async def test_a_released_claim_writes_nothing(self, runs: RunStore, start: Start) -> None:
        begun = record()
        claim = await start(begun)
        await claim.release()
        late = following(begun, entries=0, status="failed")
        with pytest.raises(ClaimLost) as refused:
            await runs.commit(claim, late, checkpoint=checkpoint(late))
        assert refused.value.code == "run_busy"
        assert await runs.load(begun.run_id) == begun

    async def test_an_old_claim_writes_nothing_while_another_holds_the_run(self, runs: RunStore, start: Start) -> None:
        begun = record()
        old = await start(begun)
        await old.release()
        late = following(begun, entries=0, status="failed")
        async with await runs.claim(begun.run_id):
            with pytest.raises(ClaimLost):
                await runs.commit(old, late, checkpoint=checkpoint(late))
