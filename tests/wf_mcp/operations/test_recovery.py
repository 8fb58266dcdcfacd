"""Looking at a run whose process is gone, and going on with it."""

import anyio
import pytest

from tests.wf_mcp.operations.test_runs import CALL, deployed
from tests.wf_mcp.scripted import Gate, ScriptedSource, opened
from wf_artifacts.errors import RunNotFound
from wf_artifacts.stores import Stores
from wf_core.ids import RunId
from wf_mcp.operations import summaries
from wf_mcp.operations.recovery import recover_runs
from wf_mcp.operations.runs import cancel_run, inspect_run, run_deployment

pytestmark = pytest.mark.anyio


@pytest.fixture
async def left_behind(stores: Stores) -> str:
    """A run whose process ended in the middle of a call that may not be repeated without asking."""
    gate = Gate()
    async with opened(ScriptedSource(acts={"do": gate}), stores=stores) as app:
        await deployed(app, CALL)
        told = await run_deployment(app, deployment_id="flow", wait_seconds=0)
        assert told.run_id is not None
        with anyio.fail_after(5):
            await gate.entered.wait()
    return told.run_id


async def test_a_run_whose_process_is_gone_is_gone_on_with_when_it_is_inspected(
    stores: Stores, left_behind: str
) -> None:
    async with opened(ScriptedSource(acts={"do": Gate()}), stores=stores) as app:
        with anyio.fail_after(5):
            told = await inspect_run(app, run_id=left_behind, wait_seconds=5)
    assert (told.status, told.resume_readiness, told.diagnostics) == ("interrupted", "blocked", [])
    [call] = told.pending_calls
    assert (call.state, call.step_id, call.capability) == ("in_doubt", "do", "ops.do")
    assert told.next_actions == [summaries.settle_action(call)]


async def test_looking_without_taking_over_changes_nothing_and_says_how_the_run_goes_on(
    stores: Stores, left_behind: str
) -> None:
    async with opened(ScriptedSource(acts={"do": Gate()}), stores=stores) as app:
        told = await inspect_run(app, run_id=left_behind, take_over=False)
        assert (await stores.runs.load_checkpoint(RunId(left_behind))).reason == "started"
    assert (told.status, told.resume_readiness, told.pending_calls) == ("running", "not_applicable", [])
    assert told.next_actions == [
        f'inspect_run(run_id="{left_behind}", wait_seconds=25) goes on with it, as wf runs recover {left_behind} does',
        f'cancel_run(run_id="{left_behind}")',
    ]


async def test_a_run_whose_process_is_gone_can_be_ended(stores: Stores, left_behind: str) -> None:
    async with opened(ScriptedSource(acts={"do": Gate()}), stores=stores) as app:
        assert (await cancel_run(app, run_id=left_behind)).status == "cancelled"


async def test_a_run_that_cannot_go_on_is_left_as_it_is_and_says_why(stores: Stores, left_behind: str) -> None:
    source = ScriptedSource(acts={"do": Gate()}, enabled=False)
    async with opened(source, stores=stores) as app:
        told = await inspect_run(app, run_id=left_behind)
        assert (told.status, told.resume_readiness) == ("running", "blocked")
        assert [one.code for one in told.diagnostics] == ["source_disabled"]
        recovered = await recover_runs(app)
        assert [(run.run_id, run.status) for run in recovered.runs] == [(left_behind, "running")]
        assert "switched off" in (recovered.runs[0].reason or "")
        source.enabled = True
        [run] = (await recover_runs(app, run_id=left_behind)).runs
    assert (run.status, run.reason) == ("interrupted", None)


async def test_the_key_of_a_run_whose_process_is_gone_goes_on_with_that_run(stores: Stores) -> None:
    gate = Gate()
    async with opened(ScriptedSource(acts={"do": gate}), stores=stores) as app:
        await deployed(app, CALL)
        told = await run_deployment(app, deployment_id="flow", idempotency_key="k", wait_seconds=0)
        with anyio.fail_after(5):
            await gate.entered.wait()
    async with opened(ScriptedSource(acts={"do": gate}), stores=stores) as app:
        again = await run_deployment(app, deployment_id="flow", idempotency_key="k", wait_seconds=5)
    assert (again.run_id, again.status, len(again.pending_calls)) == (told.run_id, "interrupted", 1)


async def test_only_a_run_that_there_is_can_be_gone_on_with(stores: Stores) -> None:
    async with opened(stores=stores) as app:
        assert (await recover_runs(app)).runs == []
        with pytest.raises(RunNotFound):
            await recover_runs(app, run_id="run_1")
