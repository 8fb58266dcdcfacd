"""The memory of runs beside the contract that `test_store` holds it to."""

import pytest

from tests.wf_artifacts.samples import following, record, start_and_release
from wf_artifacts.errors import ClaimLost
from wf_artifacts.runs.memory import MemoryRuns

pytestmark = pytest.mark.anyio


async def test_two_memories_share_nothing() -> None:
    first, second = MemoryRuns(), MemoryRuns()
    await start_and_release(first, record())
    assert (await second.list_runs(principal=None, limit=1)).items == ()


async def test_a_claim_of_another_memory_writes_nothing() -> None:
    first, second = MemoryRuns(), MemoryRuns()
    begun = record()
    for runs in (first, second):
        await start_and_release(runs, begun)
    async with await first.claim(begun.run_id) as claim:
        with pytest.raises(ClaimLost):
            await second.commit(claim, following(begun, entries=0).model_copy(update={"checkpoint": 1}))
