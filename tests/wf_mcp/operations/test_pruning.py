"""Deleting runs that ended long ago."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.wf_mcp.execution.callees.place import Home, calling, deploy, saying
from tests.wf_mcp.execution.callees.place import plan as callee_plan
from tests.wf_mcp.scripted import ask, opened, plan
from wf_artifacts.clock import ManualClock
from wf_mcp.errors import InvalidArgument
from wf_mcp.operations.artifacts import save_artifact
from wf_mcp.operations.caller import LOCAL_PERSON, Caller
from wf_mcp.operations.deployments import create_deployment
from wf_mcp.operations.pruning import prune_runs
from wf_mcp.operations.runs import cancel_run, inspect_run, list_runs, resume_run, run_deployment
from wf_mcp.operations.sessions import resume_session, start_session

pytestmark = pytest.mark.anyio

DAY = timedelta(days=1)

QUESTION = {
    "type": "interrupt",
    "kind": "approval",
    "resume": {"state.answer": "words"},
    "routes": {"submitted": "__end__"},
}


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


async def test_what_an_open_run_called_stays_until_that_has_ended_and_taken_its_answer(tmp_path: Path) -> None:
    """The caller is blocked, so it cannot take the answer; without it, it would have to call again."""
    home = Home(tmp_path)
    outer = {
        "ask": {
            "type": "node",
            "use": "workflows.inner",
            "input": {},
            "output": {"state.answer": "outcome"},
            "routes": {"ok": "count"},
        },
        "count": {"type": "node", "use": "ops.count", "input": {"who": {"value": "x"}}, "routes": {"ok": "__end__"}},
    }
    wf_json = tmp_path / "wf.json"
    whole = wf_json.read_text()
    async with home.open() as app:
        await deploy(app, "inner", callee_plan({"ask": QUESTION}))
        await deploy(app, "outer", callee_plan(outer))
        called = await run_deployment(app, deployment_id="outer")
        (inner,) = (await list_runs(app, deployment_id="inner")).runs
    wf_json.write_text("{}")
    async with home.open() as app:
        await resume_run(app, run_id=inner.run_id, resume_payload={"words": "yes"}, caller=LOCAL_PERSON)
        assert app.callees is not None
        await app.callees.finish()
        assert (await inspect_run(app, run_id=inner.run_id)).status == "completed"
        assert (await prune_runs(app, older_than=timedelta(0))).runs == []
    wf_json.write_text(whole)
    async with home.open() as app:
        assert (await inspect_run(app, run_id=str(called.run_id), wait_seconds=10)).status == "completed"
        assert len((await prune_runs(app, older_than=timedelta(0))).runs) == 2
    assert home.counted == ["x"]


async def test_what_an_open_session_called_stays_until_that_has_ended(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.agent("user", calling(("inner", {})), saying("done"), tools=("workflows.inner",))
    async with home.open() as app:
        await deploy(app, "inner", callee_plan({"ask": QUESTION}))
        session_id = str((await start_session(app, agent="user", prompt="go")).session_id)
        await resume_session(app, session_id=session_id)
        (inner,) = (await list_runs(app)).runs
        await resume_run(app, run_id=inner.run_id, resume_payload={"words": "yes"}, caller=LOCAL_PERSON)
        assert app.callees is not None
        await app.callees.finish()
        assert (await prune_runs(app, older_than=timedelta(0))).runs == []
        assert (await resume_session(app, session_id=session_id)).status == "answered"
        assert [one.run_id for one in (await prune_runs(app, older_than=timedelta(0))).runs] == [inner.run_id]
