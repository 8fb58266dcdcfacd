"""Deleting runs that ended long ago."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.wf_mcp.scripted import ask, opened, plan
from wf_artifacts.clock import ManualClock
from wf_mcp.errors import InvalidArgument
from wf_mcp.operations.artifacts import save_artifact
from wf_mcp.operations.caller import Caller
from wf_mcp.operations.deployments import create_deployment
from wf_mcp.operations.pruning import prune_runs
from wf_mcp.operations.runs import cancel_run, list_runs, run_deployment

pytestmark = pytest.mark.anyio

DAY = timedelta(days=1)


async def test_only_runs_of_the_caller_that_ended_before_then_are_deleted() -> None:
    clock = ManualClock(datetime(2026, 11, 30, tzinfo=UTC))
    alice, bob = Caller(principal="alice"), Caller(principal="bob")
    async with opened(clock=clock) as app:
        await save_artifact(app, artifact_id="flow", plan=plan({"ask": ask()}))
        await create_deployment(app, deployment_id="flow", artifact_id="flow")
        started: dict[str, str] = {}
        for name, caller in (("old", alice), ("foreign", bob), ("open", alice), ("recent", alice)):
            summary = await run_deployment(app, deployment_id="flow", caller=caller)
            started[str(summary.run_id)] = name
            if name == "recent":
                clock.advance(2 * DAY)
            if name != "open":
                await cancel_run(app, run_id=str(summary.run_id), caller=caller)

        would = await prune_runs(app, older_than=DAY, dry_run=True, caller=alice)
        pruned = await prune_runs(app, older_than=DAY, caller=alice)

        assert [started[run.run_id] for run in pruned.runs] == ["old"]
        assert would.runs == pruned.runs
        assert would.dry_run
        assert pruned.ended_before == "2026-12-01T00:00:00.000Z"
        left = [*(await list_runs(app, caller=alice)).runs, *(await list_runs(app, caller=bob)).runs]
        assert {started[run.run_id] for run in left} == {"foreign", "open", "recent"}


async def test_a_run_that_can_go_on_cannot_be_asked_for() -> None:
    async with opened() as app:
        with pytest.raises(InvalidArgument, match="A run that is interrupted has not ended"):
            await prune_runs(app, older_than=DAY, statuses=["interrupted", "failed"])
