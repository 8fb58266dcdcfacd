"""What a deployment's call policy leaves to the outside: how it is told, and who may answer."""

from datetime import UTC, datetime, timedelta
from typing import Any

import anyio
import pytest

from tests.wf_mcp.operations.paying import APPROVAL, DEFER, PAY, paying, pays
from tests.wf_mcp.scripted import ScriptedSource, opened, save
from wf_artifacts.clock import ManualClock
from wf_artifacts.stores import open_stores
from wf_core.errors import (
    CallAlreadyCompleted,
    CallExpired,
    InvalidPolicy,
    InvalidResult,
    PersonRequired,
    WrongAnswerKind,
)
from wf_core.ids import RunId
from wf_mcp.operations.caller import LOCAL_MODEL, LOCAL_PERSON, Caller
from wf_mcp.operations.calls import approve_call, complete_call, fail_call, inspect_call, retry_call
from wf_mcp.operations.deployments import create_deployment, inspect_deployment
from wf_mcp.operations.models import RunSummary
from wf_mcp.operations.pending import list_pending
from wf_mcp.operations.runs import inspect_run, list_runs
from wf_mcp.operations.traces import read_run_trace

pytestmark = pytest.mark.anyio


async def test_a_deferred_call_is_told_with_what_is_to_be_done() -> None:
    async with paying(DEFER) as (app, run):
        assert (run.status, run.resume_readiness) == ("interrupted", "ready")
        (call,) = run.pending_calls
        assert (call.state, call.awaits, call.reason) == ("deferred", "deferred", "the bank does it")
        assert (call.step_id, call.path, call.capability, call.arguments) == ("pay", ["pay"], "ops.pay", {"amount": 3})
        assert run.run_id is not None
        assert call.token == f"call_{run.run_id.removeprefix('run_')}_c1"
        assert run.next_actions[0].startswith(f'complete_call(token="{call.token}"')
        assert await inspect_call(app, token=call.token) == call
        (item,) = (await list_pending(app)).pending
        assert (item.call, item.run_id, item.next_action) == (call, run.run_id, run.next_actions[0])
        (row,) = (await list_runs(app, resume_readiness="ready")).runs
        assert [one.state for one in row.pending_calls] == ["deferred"]


@pytest.mark.parametrize("caller", [LOCAL_MODEL, LOCAL_PERSON], ids=["model", "person"])
async def test_anybody_may_deliver_the_result_of_a_deferred_call(caller: Caller) -> None:
    async with paying(DEFER) as (app, run):
        token = run.pending_calls[0].token
        done = await complete_call(app, token=token, result={"receipt": "yes"}, caller=caller)
        assert isinstance(done, RunSummary)
        assert (done.status, done.output) == ("completed", {"receipt": "yes"})
        with pytest.raises(CallAlreadyCompleted):
            await complete_call(app, token=token, result={"receipt": "again"}, caller=caller)
        (entry,) = (await read_run_trace(app, run_id=run.run_id or "")).entries
        assert entry.settled is not None
        assert entry.settled.by == ("person" if caller.person else "outside")


async def test_a_result_that_does_not_fit_is_refused_and_the_call_goes_on_waiting() -> None:
    async with paying(DEFER) as (app, run):
        token = run.pending_calls[0].token
        with pytest.raises(InvalidResult):
            await complete_call(app, token=token, result={"no": "receipt"})
        with pytest.raises(InvalidResult):
            await complete_call(app, token=token, result={"receipt": 1}, outcome="other")
        assert await inspect_run(app, run_id=run.run_id or "") == run


async def test_a_model_may_say_that_a_deferred_call_failed() -> None:
    async with paying(DEFER) as (app, run):
        done = await fail_call(app, token=run.pending_calls[0].token, error="no money")
        assert isinstance(done, RunSummary)
        assert done.error is not None
        assert (done.error.code, done.error.message) == ("capability_error", "no money")


async def test_an_approval_is_a_persons_and_then_the_call_is_made() -> None:
    async with paying(APPROVAL) as (app, run):
        (call,) = run.pending_calls
        assert f"wf calls approve {call.token}" in run.next_actions[0]
        with pytest.raises(PersonRequired):
            await approve_call(app, token=call.token, caller=LOCAL_MODEL)
        with pytest.raises(PersonRequired):
            await fail_call(app, token=call.token, error="no", caller=LOCAL_MODEL)
        for caller in (LOCAL_MODEL, LOCAL_PERSON):
            with pytest.raises(WrongAnswerKind):
                await complete_call(app, token=call.token, result={"receipt": "made up"}, caller=caller)
        with pytest.raises(WrongAnswerKind):
            await retry_call(app, token=call.token, caller=LOCAL_PERSON)
        done = await approve_call(app, token=call.token, caller=LOCAL_PERSON)
        assert isinstance(done, RunSummary)
        assert done.output == {"receipt": "paid 3"}


async def test_an_approval_for_a_call_that_waits_for_a_result_is_refused() -> None:
    async with paying(DEFER) as (app, run):
        with pytest.raises(WrongAnswerKind):
            await approve_call(app, token=run.pending_calls[0].token, caller=LOCAL_PERSON)


async def test_a_refused_approval_fails_the_step_without_effects() -> None:
    async with paying(APPROVAL) as (app, run):
        done = await fail_call(app, token=run.pending_calls[0].token, caller=LOCAL_PERSON)
        assert isinstance(done, RunSummary)
        assert done.error is not None
        assert done.error.side_effects == "none"


THEN = datetime(2026, 11, 30, 10, tzinfo=UTC)
EXPIRES = {**DEFER, "expiresSeconds": 60}


async def test_a_call_that_expired_fails_its_step_when_it_is_looked_at() -> None:
    clock = ManualClock(THEN)
    async with paying(EXPIRES, clock=clock) as (app, run):
        assert run.pending_calls[0].expires_at == "2026-11-30T10:01:00.000Z"
        assert (await inspect_run(app, run_id=run.run_id or "")).status == "interrupted"
        clock.advance(timedelta(seconds=60))
        failed = await inspect_run(app, run_id=run.run_id or "")
        assert failed.error is not None
        assert (failed.status, failed.error.code) == ("failed", "call_expired")


async def test_a_result_that_comes_too_late_is_refused_and_the_step_fails() -> None:
    clock = ManualClock(THEN)
    async with paying(EXPIRES, clock=clock) as (app, run):
        clock.advance(timedelta(seconds=61))
        with pytest.raises(CallExpired):
            await complete_call(app, token=run.pending_calls[0].token, result={"receipt": "late"})
        with anyio.fail_after(5):
            await app.runs.wait(app.runs.handle(RunId(run.run_id or "")), seconds=5)
        assert (await inspect_run(app, run_id=run.run_id or "")).status == "failed"


async def test_a_run_keeps_the_policy_that_it_started_with() -> None:
    async with open_stores("memory://") as stores, paying(APPROVAL, stores) as (app, run):
        await create_deployment(app, deployment_id="pay", artifact_id="pay", replace=True)
        done = await approve_call(app, token=run.pending_calls[0].token, caller=LOCAL_PERSON)
        assert done.status == "completed"


async def test_a_policy_is_shown_with_its_deployment_as_it_was_understood() -> None:
    async with opened(ScriptedSource(acts={"pay": pays})) as app:
        await save(app, "pay", PAY)
        given = {"rules": [{"tool": "pay", "disposition": {"tag": "defer", "reason": "r", "expires_seconds": 5}}]}
        made = await create_deployment(app, deployment_id="pay", artifact_id="pay", call_policy=given)
        shown = await inspect_deployment(app, deployment_id="pay")
        assert made.call_policy == shown.call_policy
        assert shown.call_policy is not None
        (rule,) = shown.call_policy["rules"]
        assert rule["disposition"] == {"tag": "defer", "reason": "r", "expiresSeconds": 5}


@pytest.mark.parametrize(
    ("policy", "where"),
    [
        ({"rules": [{"tool": "pay"}]}, "call_policy.rules[0].disposition"),
        ({"default": {"tag": "later"}}, "call_policy.default.tag"),
        ({"ruls": []}, "call_policy.ruls"),
        ({"rules": [{"tool": "x", "disposition": {"tag": "runIsolated", "spec": {"memroy": "1m"}}}]},
         "call_policy.rules[0].disposition"),
        ({"default": {"tag": "runIsolated", "spec": {"sandbox": "http"}}}, "call_policy.default"),
    ],
    ids=["no disposition", "unknown tag", "unknown key", "unknown option", "no url"],
)  # fmt: skip
async def test_a_policy_that_cannot_be_read_names_the_place_and_creates_nothing(policy: Any, where: str) -> None:
    async with opened(ScriptedSource()) as app:
        with pytest.raises(InvalidPolicy) as caught:
            await create_deployment(app, deployment_id="pay", artifact_id="pay", call_policy=policy)
        assert where in [issue["where"] for issue in caught.value.issues]
