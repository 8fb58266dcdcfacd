"""Only runs that ended, and ended long enough ago, are pruned, on every backend."""

from datetime import timedelta
from typing import Any

import pytest

from tests.wf_artifacts.samples import LATER, NOW, Start, new_run_id, record, start_and_release
from wf_artifacts.runs.models import RunRecord
from wf_artifacts.runs.prune import prune
from wf_artifacts.runs.store import RunStore
from wf_core.ids import RunId
from wf_core.state import FINAL, RunStatus

pytestmark = pytest.mark.anyio

STATUSES: tuple[RunStatus, ...] = ("running", "interrupted", "completed", "failed", "cancelled")


async def nobody(record: RunRecord) -> bool:
    return False


async def pruned(runs: RunStore, **asked: Any) -> set[RunId]:
    everything: dict[str, Any] = {"principal": None, "before": LATER, "is_wanted": nobody}
    return {one.run_id async for one in prune(runs, **everything | asked)}


async def listed(runs: RunStore) -> set[RunId]:
    return {one.run_id for one in (await runs.list_runs(principal=None, limit=1000)).items}


async def test_runs_that_ended_before_are_deleted_and_given(runs: RunStore) -> None:
    ids = {status: new_run_id(number) for number, status in enumerate(STATUSES)}
    await start_and_release(runs, *(record(run_id, status=status) for status, run_id in ids.items()))
    assert await pruned(runs) == {ids["completed"], ids["failed"], ids["cancelled"]}
    assert await listed(runs) == {ids["running"], ids["interrupted"]}


async def test_an_open_run_is_never_pruned(runs: RunStore) -> None:
    await start_and_release(runs, record(status="interrupted"))
    with pytest.raises(ValueError, match="cancelled, completed, failed runs have ended"):
        await pruned(runs, statuses={"completed", "interrupted"})
    assert await listed(runs) == {new_run_id()}


async def test_what_counts_is_when_a_run_ended(runs: RunStore) -> None:
    ended = {new_run_id(number): NOW + timedelta(minutes=number) for number in range(4)}
    await start_and_release(
        runs, *(record(run_id, status="completed", updated_at=moment) for run_id, moment in ended.items())
    )
    assert await pruned(runs, before=NOW + timedelta(minutes=2)) == {new_run_id(0), new_run_id(1)}
    assert await listed(runs) == {new_run_id(2), new_run_id(3)}


async def test_only_what_is_asked_for(runs: RunStore) -> None:
    kinds = [{"status": "completed"}, {"status": "failed"}, {"status": "completed", "principal": "other"}]
    await start_and_release(runs, *(record(new_run_id(number), **kind) for number, kind in enumerate(kinds)))
    assert await pruned(runs, principal="local", statuses={"completed"}) == {new_run_id(0)}
    assert await listed(runs) == {new_run_id(1), new_run_id(2)}


async def test_a_dry_run_deletes_nothing(runs: RunStore) -> None:
    await start_and_release(runs, record(status="completed"))
    assert await pruned(runs, dry_run=True) == {new_run_id()}
    assert await listed(runs) == {new_run_id()}
    assert await pruned(runs) == {new_run_id()}


async def test_a_run_that_somebody_holds_is_left_to_them(runs: RunStore, start: Start) -> None:
    claim = await start(record(status="completed"))
    assert await pruned(runs) == set()
    await claim.release()
    assert await pruned(runs) == {new_run_id()}


async def test_more_than_a_page_is_pruned(runs: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wf_artifacts.runs.prune._PAGE", 2)
    await start_and_release(runs, *(record(new_run_id(number), status="failed") for number in range(7)))
    assert len(await pruned(runs)) == 7
    assert await listed(runs) == set()


async def test_runs_that_began_later_are_not_even_read(runs: RunStore) -> None:
    """They cannot have ended before."""
    assert set(STATUSES) > FINAL
    late = [record(new_run_id(number, LATER + timedelta(hours=1)), status="completed") for number in range(3)]
    await start_and_release(runs, record(status="completed"), *late)
    assert await pruned(runs) == {new_run_id()}
    assert await listed(runs) == {one.run_id for one in late}


async def test_what_somebody_may_ask_for_is_left_alone(runs: RunStore) -> None:
    await start_and_release(runs, *(record(new_run_id(number), status="completed") for number in range(2)))

    async def is_wanted(one: RunRecord) -> bool:
        return one.run_id == new_run_id(1)

    for dry_run in (True, False):
        assert await pruned(runs, is_wanted=is_wanted, dry_run=dry_run) == {new_run_id(0)}
    assert await listed(runs) == {new_run_id(1)}
