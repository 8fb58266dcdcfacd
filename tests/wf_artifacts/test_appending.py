"""What `runs.store` promises of the inputs that a run was given, held against every backend."""

import json
from dataclasses import replace

import anyio
import pytest

from tests.wf_artifacts.samples import Start, checkpoint, following, inputs, record
from wf_artifacts.errors import ClaimLost
from wf_artifacts.runs.store import RunStore

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("sync", [True, False])
async def test_inputs_come_back_in_order_with_the_entries_that_they_made(
    runs: RunStore, start: Start, sync: bool
) -> None:
    begun = record()
    claim = await start(begun)
    given = inputs(begun, 3, entries=2)
    lengths = [await runs.append(claim, given[:1], sync=sync), await runs.append(claim, given[1:], sync=sync)]
    journal = await runs.load_journal(begun.run_id)
    assert [json.loads(line) for line in journal] == [
        {
            "position": one.position,
            "input": json.loads(one.line),
            "trace": [json.loads(entry) for entry in one.trace],
        }
        for one in given
    ]
    assert lengths == sorted(lengths)
    assert lengths[-1] >= sum(map(len, journal))
    assert await runs.load_checkpoint(begun.run_id) == checkpoint(begun)


async def test_readers_see_entries_and_steps_at_once(runs: RunStore, start: Start) -> None:
    begun = record()
    claim = await start(begun)
    seen = begun.model_copy(update={"trace_count": 6, "steps_executed": 3})
    await runs.append(claim, inputs(begun, 3, entries=2), sync=False)
    assert await runs.load(begun.run_id) == seen
    assert (await runs.list_runs(principal=None, limit=1)).items == (seen,)
    assert [entry["index"] for entry in await runs.read_trace(begun.run_id, 1, 4)] == [1, 2, 3, 4]
    assert [entry["index"] for entry in await runs.read_trace(begun.run_id, 5, 4)] == [5]


async def test_a_checkpoint_folds_what_was_appended(runs: RunStore, start: Start) -> None:
    begun = record()
    claim = await start(begun)
    full = await runs.append(claim, inputs(begun, 4, entries=2), sync=False)
    stopped = following(begun, entries=9, steps_executed=4, status="interrupted")
    await runs.commit(claim, stopped, checkpoint=checkpoint(stopped), trace=[b'{"index":8}'])
    assert await runs.load_journal(begun.run_id) == []
    assert await runs.load(begun.run_id) == stopped
    assert [entry["index"] for entry in await runs.read_trace(begun.run_id, 0, 20)] == list(range(9))
    assert await runs.append(claim, inputs(stopped, since=4), sync=True) < full
    assert len(await runs.load_journal(begun.run_id)) == 1


async def test_a_commit_without_checkpoint_folds_nothing(runs: RunStore, start: Start) -> None:
    begun = record()
    claim = await start(begun)
    await runs.append(claim, inputs(begun), sync=False)
    moved = begun.model_copy(update={"trace_count": 2, "steps_executed": 1})
    await runs.commit(claim, moved, trace=[b'{"index":1}'])
    await runs.append(claim, inputs(moved, entries=0, since=1), sync=False)
    journal = [json.loads(line) for line in await runs.load_journal(begun.run_id)]
    assert [(line["position"], len(line["trace"])) for line in journal] == [(1, 1), (2, 0)]


async def test_the_next_holder_goes_on_where_the_journal_ends(runs: RunStore, start: Start) -> None:
    begun = record()
    claim = await start(begun)
    length = await runs.append(claim, inputs(begun, 2), sync=False)
    await claim.release()
    async with await runs.claim(begun.run_id) as second:
        with pytest.raises(ValueError, match="does not follow"):
            await runs.append(second, inputs(begun, since=1), sync=False)
        assert await runs.append(second, inputs(begun, since=2), sync=True) > length
    assert (await runs.load(begun.run_id)).trace_count == 3


async def test_inputs_that_do_not_follow_are_refused_and_change_nothing(runs: RunStore, start: Start) -> None:
    begun = record()
    claim = await start(begun)
    await runs.append(claim, inputs(begun, 2), sync=False)
    before = await runs.load(begun.run_id), await runs.load_journal(begun.run_id)
    (third,) = inputs(begun, since=2)
    torn = (replace(third, line=b"{\n}"), replace(third, trace=(b"[]",)), replace(third, line=b""))
    for bad in (inputs(begun), inputs(begun, since=5), [third, third], *([one] for one in torn)):
        with pytest.raises(ValueError, match=r"does not follow|one JSON object"):
            await runs.append(claim, bad, sync=True)
    assert (await runs.load(begun.run_id), await runs.load_journal(begun.run_id)) == before
    await runs.append(claim, [third], sync=True)


async def test_nothing_to_append_changes_nothing(runs: RunStore, start: Start) -> None:
    begun = record()
    claim = await start(begun)
    empty = await runs.append(claim, [], sync=True)
    assert await runs.load_journal(begun.run_id) == []
    length = await runs.append(claim, inputs(begun), sync=False)
    assert await runs.append(claim, [], sync=True) == length > empty
    assert len(await runs.load_journal(begun.run_id)) == 1


@pytest.mark.parametrize("sync", [True, False])
async def test_a_caller_that_is_cancelled_already_appends_all_the_same(
    runs: RunStore, start: Start, sync: bool
) -> None:
    begun = record()
    claim = await start(begun)
    lengths: list[int] = []
    with anyio.CancelScope() as scope:
        scope.cancel()
        lengths += [await runs.append(claim, inputs(begun, since=number), sync=sync) for number in range(2)]
    assert len(lengths) == len(await runs.load_journal(begun.run_id)) == 2


async def test_what_is_waited_for_later_is_there_at_once_and_goes_on_in_order(runs: RunStore, start: Start) -> None:
    begun = record()
    claim = await start(begun)
    for number in range(6):
        await runs.append(claim, inputs(begun, since=number), sync=True)
        if number != 3:
            await runs.synced(claim)
        assert len(await runs.load_journal(begun.run_id)) == number + 1
    await runs.synced(claim)
    stopped = following(begun, entries=6, steps_executed=6)
    await runs.append(claim, [], sync=True)
    await runs.commit(claim, stopped, checkpoint=checkpoint(stopped))
    assert [entry["index"] for entry in await runs.read_trace(begun.run_id, 0, 9)] == list(range(6))
    await claim.release()
    with pytest.raises(ClaimLost):
        await runs.synced(claim)


async def test_a_claim_that_ended_appends_nothing(runs: RunStore, start: Start) -> None:
    begun = record()
    old = await start(begun)
    await old.release()
    with pytest.raises(ClaimLost):
        await runs.append(old, inputs(begun), sync=False)
    async with await runs.claim(begun.run_id):
        with pytest.raises(ClaimLost):
            await runs.append(old, inputs(begun), sync=True)
    assert await runs.load_journal(begun.run_id) == []
