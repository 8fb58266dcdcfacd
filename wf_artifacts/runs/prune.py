"""Deletes runs that ended long ago, whatever store keeps them.

An open run keeps its definitions itself, so nothing that it needs goes with another run; it is never deleted here.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from datetime import datetime
from functools import partial
from typing import Final

from wf_artifacts.errors import RunBusy, RunNotFound
from wf_artifacts.runs.models import RunRecord
from wf_artifacts.runs.rules import RUNS
from wf_artifacts.runs.store import RunStore
from wf_artifacts.storage.pages import cursor_after, every
from wf_core.ids import run_id
from wf_core.state import FINAL, RunStatus

_PAGE: Final = 100


async def prune(
    runs: RunStore,
    *,
    principal: str | None,
    before: datetime,
    is_wanted: Callable[[RunRecord], Awaitable[bool]],
    statuses: Collection[RunStatus] = FINAL,
    dry_run: bool = False,
) -> AsyncIterator[RunRecord]:
    """Delete the runs that ended before a moment, and give each one that was, or with `dry_run` would be, deleted.

    A run that somebody holds or deletes at this moment is left to them. Left alone is one that cannot be read, and one
    of which `is_wanted` says that whoever called it may ask for its answer. Costs what the runs that
    began before that moment cost.

    Raises:
        ValueError: a status is not one of `wf_core.state.FINAL`; nothing was deleted.
    """
    if not FINAL.issuperset(statuses):
        raise ValueError(f"only {', '.join(sorted(FINAL))} runs have ended")
    # Ids begin with the time of creation, so a run that begins later is not even looked at.
    begun_before = cursor_after(RUNS, run_id(before, 0))
    for status in sorted(statuses):
        pages = partial(runs.list_runs, principal=principal, status=status)
        async for record in every(pages, cursor=begun_before, limit=_PAGE):
            has_ended = record.updated_at < before
            if has_ended and not await is_wanted(record) and (dry_run or await _delete(runs, record)):
                yield record


async def _delete(runs: RunStore, record: RunRecord) -> bool:
    try:
        await runs.delete(record.run_id)
    except (RunBusy, RunNotFound):
        return False
    return True
