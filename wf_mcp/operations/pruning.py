"""Deleting runs that ended long ago."""

from collections.abc import Collection
from datetime import datetime, timedelta
from functools import partial

from wf_artifacts.runs.prune import prune
from wf_core.state import FINAL
from wf_core.times import iso
from wf_mcp.app import App
from wf_mcp.errors import InvalidArgument
from wf_mcp.execution.callees.family import is_wanted
from wf_mcp.execution.live import Progress
from wf_mcp.operations.caller import LOCAL_MODEL, Caller
from wf_mcp.operations.models import Answer, RunStatus


class PrunedRun(Answer):
    """A run that was deleted, or would be."""

    run_id: str
    status: RunStatus
    deployment_id: str
    updated_at: str


class PrunedRuns(Answer):
    """Every run that ended before a moment."""

    ended_before: str
    dry_run: bool
    """Whether nothing was deleted."""
    runs: list[PrunedRun]


async def prune_runs(
    app: App,
    *,
    older_than: timedelta,
    statuses: Collection[RunStatus] = FINAL,
    dry_run: bool = False,
    caller: Caller = LOCAL_MODEL,
    progress: Progress | None = None,
) -> PrunedRuns:
    """Delete the runs that ended so long ago, with everything that is kept of them.

    Never touched is one that is open, or that an open run or session called and may ask for its answer.

    Raises:
        InvalidArgument: a status is one that a run can leave, or there is no such moment; nothing was deleted.
    """
    require_ended("run", statuses, FINAL)
    before = moment_before(app, older_than)
    found: list[PrunedRun] = []
    async for record in prune(
        app.stores.runs,
        principal=caller.principal,
        before=before,
        is_wanted=partial(is_wanted, app.stores),
        statuses=statuses,
        dry_run=dry_run,
    ):
        found.append(
            PrunedRun(
                run_id=record.run_id,
                status=record.status,
                deployment_id=record.deployment_id,
                updated_at=iso(record.updated_at),
            )
        )
        if progress is not None:
            await progress(len(found), record.run_id)
    return PrunedRuns(ended_before=iso(before), dry_run=dry_run, runs=found)


def require_ended(kind: str, statuses: Collection[str], ended: Collection[str]) -> None:
    """Accept statuses of what is over; `kind` says what it is.

    Raises:
        InvalidArgument: one of them is not among those that are `ended`.
    """
    if open_ones := sorted(set(statuses).difference(ended)):
        raise InvalidArgument(
            f"A {kind} that is {open_ones[0]} has not ended.",
            hint=f"Only {', '.join(sorted(ended))} {kind}s are pruned.",
        )


def moment_before(app: App, older_than: timedelta) -> datetime:
    """Give the moment that is so long ago.

    Raises:
        InvalidArgument: there is no such moment.
    """
    try:
        return app.clock.now() - older_than
    except OverflowError:
        raise InvalidArgument("That is longer ago than there are dates.", hint="Name a shorter time.") from None
