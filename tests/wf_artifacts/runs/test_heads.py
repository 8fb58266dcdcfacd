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
