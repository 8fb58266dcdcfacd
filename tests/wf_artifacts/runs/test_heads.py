"""Claims in a database: leases that run out, fences that refuse late writes, processes that come back."""

import signal
import sys
from collections.abc import Iterator

import anyio
import pytest
from anyio.streams.buffered import BufferedByteReceiveStream

from tests.wf_artifacts.conftest import Open
from tests.wf_artifacts.databases import database_at, end_leases, run_sql
from tests.wf_artifacts.samples import (
    checkpoint,
    environment,
    following,
    inputs,
    new_run_id,
    record,
    start_and_release,
    trace,
)
from wf_artifacts.errors import ClaimLost, RunBusy
from wf_artifacts.runs.heads import SqlClaim
from wf_artifacts.runs.models import RunRecord
from wf_artifacts.runs.sql import SqlRuns
from wf_artifacts.runs.store import Claim
from wf_artifacts.storage.database import Database

pytestmark = pytest.mark.anyio


@pytest.fixture
def runs(database: Database) -> Iterator[SqlRuns]:
    opened = SqlRuns(database)
    yield opened
    opened.close()


@pytest.fixture
def others(open_database: Open) -> Iterator[SqlRuns]:
    """The same runs, as another process sees them."""
    opened = SqlRuns(open_database())
    yield opened
    opened.close()


async def begin(runs: SqlRuns, begun: RunRecord) -> Claim:
    made = await runs.create(begun, environment(), checkpoint(begun))
    assert made.claim is not None
    return made.claim


async def test_a_claim_passes_on_when_its_lease_ran_out_and_late_writes_are_refused(
    database: Database, runs: SqlRuns, others: SqlRuns
) -> None:
    begun = record()
    old = await begin(runs, begun)
    with pytest.raises(RunBusy):
        await others.claim(begun.run_id)
    end_leases(database)
    new = await others.claim(begun.run_id)
    late = following(begun, status="failed")
    with pytest.raises(ClaimLost):
        await runs.commit(old, late, checkpoint=checkpoint(late), trace=trace(begun))
    for sync in (True, False):
        with pytest.raises(ClaimLost):
            await runs.append(old, inputs(begun), sync=sync)
    assert (await runs.load(begun.run_id), await runs.load_journal(begun.run_id)) == (begun, [])
    await old.release()
    moved = following(begun)
    await others.commit(new, moved, checkpoint=checkpoint(moved), trace=trace(begun))
    assert await runs.load(begun.run_id) == moved
    await new.release()


async def test_a_write_under_way_is_refused_when_the_claim_passed_on_before_it(
    database: Database, runs: SqlRuns, others: SqlRuns
) -> None:
    """What the holder remembers of its last write lets nothing through."""
    begun = record()
    old = await begin(runs, begun)
    await runs.append(old, inputs(begun), sync=False)
    end_leases(database)
    new = await others.claim(begun.run_id)
    with pytest.raises(ClaimLost):
        await runs.append(old, inputs(begun, since=1), sync=True)
    await others.append(new, inputs(begun, since=1), sync=True)
    assert len(await runs.load_journal(begun.run_id)) == 2
    await new.release()


async def test_a_write_waits_for_who_is_about_to_take_its_claim_and_is_refused(
    open_database: Open, runs: SqlRuns
) -> None:
    """Nothing is written behind the back of a new holder, who has read the journal by then."""
    begun = record()
    old = await begin(runs, begun)
    assert isinstance(old, SqlClaim)
    refused: list[ClaimLost] = []

    async def append() -> None:
        with pytest.raises(ClaimLost) as error:
            await runs.append(old, inputs(begun), sync=True)
        refused.append(error.value)

    async with anyio.create_task_group() as tasks:
        with open_database().writing() as transaction:
            assert transaction.change("take_run", **{**old.place, "owner": "another"}) == 1
            tasks.start_soon(append)
            await anyio.sleep(0.1)
            assert refused == []
    assert len(refused) == 1
    assert await runs.load_journal(begun.run_id) == []


async def test_a_crash_after_inputs_leaves_a_run_as_far_as_they_lead(
    database: Database, runs: SqlRuns, others: SqlRuns
) -> None:
    """They say it themselves: the head is written when the run is committed or released."""
    begun = record()
    claim = await begin(runs, begun)
    length = 0
    for number in range(3):
        length = await runs.append(claim, inputs(begun, since=number, entries=2), sync=bool(number % 2))
    at_rest = "SELECT trace_count, steps_executed, position, journal_bytes FROM wf_run_heads"
    assert run_sql(database, at_rest) == [(0, 0, None, 0)]
    end_leases(database)
    async with await others.claim(begun.run_id) as second:
        assert await others.load(begun.run_id) == begun.model_copy(update={"trace_count": 6, "steps_executed": 3})
        with pytest.raises(ValueError, match="does not follow"):
            await others.append(second, inputs(begun, since=2), sync=True)
        assert await others.append(second, [], sync=True) == length
        assert run_sql(database, at_rest) == [(6, 3, 3, length)]
        length = await others.append(second, inputs(begun, since=3, entries=0), sync=True)
    assert run_sql(database, at_rest) == [(6, 4, 4, length)]


async def test_an_owner_that_comes_back_keeps_what_nobody_took(
    database: Database, runs: SqlRuns, others: SqlRuns
) -> None:
    begun = record()
    claim = await begin(runs, begun)
    end_leases(database)
    assert not await others.is_claimed(begun.run_id)
    moved = following(begun)
    await runs.commit(claim, moved, checkpoint=checkpoint(moved), trace=trace(begun))
    await (await begin(runs, record(new_run_id(2)))).release()
    assert await others.is_claimed(begun.run_id)
    await claim.release()


async def test_every_claim_has_a_fence_of_its_own(database: Database, runs: SqlRuns, others: SqlRuns) -> None:
    begun = record()
    await (await begin(runs, begun)).release()
    fences: list[int] = []
    for store in (runs, others, runs):
        async with await store.claim(begun.run_id):
            fences += run_sql(database, "SELECT fence FROM wf_run_heads")[0]
    assert fences == [2, 3, 4]


async def test_a_run_may_be_deleted_under_an_owner_that_is_gone(
    database: Database, runs: SqlRuns, others: SqlRuns
) -> None:
    begun = record()
    old = await begin(runs, begun)
    with pytest.raises(RunBusy):
        await others.delete(begun.run_id)
    end_leases(database)
    await others.delete(begun.run_id)
    with pytest.raises(ClaimLost):
        await runs.append(old, inputs(begun), sync=True)
    await old.release()


async def test_what_a_closed_store_held_is_free_at_once(runs: SqlRuns, others: SqlRuns) -> None:
    begun = record()
    await begin(runs, begun)
    runs.close()
    assert await others.abandoned() == [begun.run_id]
    async with await others.claim(begun.run_id):
        pass


@pytest.mark.parametrize("url", ["sqlite", "postgres"])
async def test_a_process_that_was_stopped_comes_back_too_late(url: str, request: pytest.FixtureRequest) -> None:
    address: str = request.getfixturevalue(url)
    database = database_at(address)
    runs = SqlRuns(database)
    begun = record()
    await start_and_release(runs, begun)
    command = [sys.executable, "-m", "tests.wf_artifacts.holder", address]
    async with await anyio.open_process(command, stderr=None) as holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        said = BufferedByteReceiveStream(holder.stdout)
        assert await said.receive_until(b"\n", 20) == b"held"
        holder.send_signal(signal.SIGSTOP)
        with anyio.fail_after(20):
            while await runs.is_claimed(begun.run_id):
                pass
        claim = await runs.claim(begun.run_id)
        holder.send_signal(signal.SIGCONT)
        await holder.stdin.send(b"write\n")
        assert await said.receive_until(b"\n", 20) == b"lost"
    assert await runs.load(begun.run_id) == begun
    await claim.release()
    runs.close()
    database.close()
