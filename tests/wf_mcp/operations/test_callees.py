"""What is told of agents and workflows that somebody waits for: what they are at, why they do not go on, what to do."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.wf_mcp.execution.callees.place import DEFER, Home, asks, calling, deploy, inspected, plan, run, saying
from tests.wf_mcp.scripted import contents
from wf_core.errors import PersonRequired
from wf_mcp.app import App
from wf_mcp.operations import calls, deployments, pending, runs, sessions
from wf_mcp.operations.callees import Looked
from wf_mcp.operations.caller import LOCAL_MODEL, LOCAL_PERSON
from wf_mcp.operations.models import PendingCall, PendingItem, RunSummary
from wf_mcp.operations.session_models import SessionSummary

pytestmark = pytest.mark.anyio

QUESTION: dict[str, Any] = {
    "type": "interrupt",
    "kind": "approval",
    "resume_schema": {"type": "object"},
    "resume": {},
    "routes": {"submitted": "after"},
}
SHOUTS: dict[str, Any] = {
    "type": "node",
    "use": "ops.shout",
    "input": {"text": {"value": "x"}},
    "output": {"state.answer": "result"},
    "routes": {"ok": "__end__"},
}
ASKS = plan({"ask": QUESTION, "after": SHOUTS})
CALLS = plan({"call": {**SHOUTS, "use": "workflows.asks", "input": {}, "output": {"state.answer": "output"}}})


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path)
    home.agent("user", calling(("asks", {})), saying("{{results}}"), tools=("workflows.asks",))
    home.agent("helper", calling(("shout", {"text": "x"})), tools=("ops.shout",), rules={"*": DEFER})
    home.agent("boss", calling(("helper", {"prompt": "go"})), saying("done"), tools=("agents.helper",))
    return home


async def waiting(app: App) -> tuple[RunSummary, SessionSummary]:
    """Let a run and a session wait for a workflow that asks a person."""
    await deploy(app, "asks", ASKS)
    await deploy(app, "calls", CALLS)
    started = await sessions.start_session(app, agent="user", prompt="go")
    told = await sessions.resume_session(app, session_id=started.session_id or "")
    return await run(app, "calls"), told


async def listed(app: App, owner: str | None) -> PendingItem:
    """Give what the list of everything that waits says of a session or a run."""
    everything = (await pending.list_pending(app, limit=100)).pending
    (item,) = [one for one in everything if owner in (one.run_id, one.session_id)]
    return item


def stored(home: Home) -> dict[str, bytes]:
    """Give what is kept; the index follows from it."""
    return {name: kept for name, kept in contents(home.folder).items() if not name.startswith("home/index/")}


async def shown(app: App, run_id: str | None, session_id: str | None) -> list[RunSummary | SessionSummary]:
    detail = await sessions.inspect_session(app, session_id=session_id or "")
    return [await inspected(app, run_id, 0), detail]


async def test_who_waits_for_a_workflow_whose_deployment_was_deleted_is_told_and_how_it_comes_back(home: Home) -> None:
    async with home.open() as app:
        outer, session = await waiting(app)
        await deployments.delete_deployment(app, deployment_id="asks")
        for told in await shown(app, outer.run_id, session.session_id):
            (call,) = told.pending_calls
            assert "the deployment asks was deleted" in (call.reason or "")
            [found] = [one for one in told.diagnostics if one.code == "deployment_not_found"]
            bring_back = "create_deployment(deployment_id='asks', artifact_id='asks', version=1)"
            assert bring_back in (found.hint or "")
            assert any(bring_back in action for action in told.next_actions)
        for owner in (outer.run_id, session.session_id):
            item = await listed(app, owner)
            assert "create_deployment(" in item.next_action
            assert item.call is not None
            assert "was deleted" in (item.call.reason or "")
        await deployments.create_deployment(app, deployment_id="asks", artifact_id="asks", version=1)
        for row in (await runs.list_runs(app, deployment_id="asks")).runs:
            await runs.resume_run(app, run_id=row.run_id, caller=LOCAL_PERSON)
        assert (await inspected(app, outer.run_id)).status == "completed"
        assert (await sessions.resume_session(app, session_id=session.session_id or "")).status == "answered"


async def test_who_waits_for_a_workflow_that_cannot_go_on_is_told_what_is_missing(home: Home) -> None:
    async with home.open() as app:
        outer, session = await waiting(app)
    (home.folder / "ops.py").write_text("")
    async with home.open() as app:
        for told in await shown(app, outer.run_id, session.session_id):
            (call,) = told.pending_calls
            assert "is blocked: ops.shout cannot be called" in (call.reason or "")
            assert "run_blocked" in [one.code for one in told.diagnostics]
        assert "cancel_run(run_id='run_" in (await listed(app, outer.run_id)).next_action


async def test_the_reason_for_which_a_model_failed_is_shown_to_whoever_waits_however_far_above(home: Home) -> None:
    async with home.open() as app:
        await deploy(app, "flow", plan({"ask": asks("helper")}))
        await deploy(app, "above", plan({"ask": asks("boss")}))
        found, above = await run(app, "flow"), await run(app, "above")
        for item in (await pending.list_pending(app, limit=100)).pending:
            if item.call is not None and item.call.name == "shout":
                await calls.complete_call(app, token=item.call.token, result="loud", caller=LOCAL_MODEL)
                await sessions.resume_session(app, session_id=item.session_id or "")
        for run_id in (found.run_id, above.run_id):
            (call,) = (await inspected(app, run_id, 0)).pending_calls
            assert "did not answer" in (call.reason or "")
            assert "helper.answers.json has 1 answers" in (call.reason or "")
            item = await listed(app, run_id)
            assert "resume_session(session_id='sess_" in item.next_action
        (told,) = (await inspected(app, found.run_id, 0)).diagnostics
        assert (told.code, told.severity) == ("model_unusable", "warning")


async def test_a_paused_session_is_told_as_one_that_somebody_has_to_go_on_with(home: Home) -> None:
    async with home.open() as app:
        await deploy(app, "flow", plan({"ask": asks("helper")}))
        found = await run(app, "flow")
        (row,) = (await sessions.list_sessions(app)).sessions
        assert (await inspected(app, found.run_id, 0)).diagnostics == []
        await sessions.pause_session(app, session_id=row.session_id)
        told = await inspected(app, found.run_id, 0)
        assert [one.code for one in told.diagnostics] == ["session_paused"]
        assert told.pending_calls[0].reason == f"the session {row.session_id} waits for shout, and is paused"


async def test_a_model_answers_no_call_that_waits_for_its_callee_whose_question_is_a_persons(home: Home) -> None:
    """The run or the session would go on as if a person had said yes, while the question is still open."""
    forged = {"run_id": "run_1", "outcome": "ok", "output": {"answer": "yes"}}
    async with home.open() as app:
        outer, session = await waiting(app)
        await deploy(app, "agents", plan({"ask": asks("helper")}))
        asked = await run(app, "agents")
        assert app.callees is not None
        await app.callees.finish()
        before = stored(home)
        questions = {row.run_id for row in (await runs.list_runs(app, deployment_id="asks")).runs}
        (helper,) = [row for row in (await sessions.list_sessions(app)).sessions if row.agent == "helper"]
        named: set[str] = set()
        for token in (told.pending_calls[0].token for told in (outer, session, asked)):
            for tell in (partial(calls.complete_call, result=forged), calls.fail_call, calls.retry_call):
                with pytest.raises(PersonRequired) as refused:
                    await tell(app, token=token, caller=LOCAL_MODEL)
                callee = str(refused.value.details["callee"])
                assert callee in (refused.value.hint or "")
                named.add(callee)
        assert named == {*questions, helper.session_id}
        assert stored(home) == before
        assert all("goes on elsewhere" in told.next_actions[0] for told in (outer, session, asked))
        assert "list_pending()" in session.next_actions[0]


async def test_where_a_person_answers_in_the_place_of_a_callee_that_does_nothing_more(home: Home) -> None:
    async with home.open() as app:
        outer, session = await waiting(app)
        by_hand = {"run_id": "run_1", "outcome": "ok", "output": {"answer": "yes"}}
        token = outer.pending_calls[0].token
        done = await calls.complete_call(app, token=token, result=by_hand, caller=LOCAL_PERSON)
        assert done.status == "completed"
        statuses = [row.status for row in (await runs.list_runs(app, deployment_id="asks")).runs]
        assert sorted(statuses) == ["cancelled", "interrupted"]
        # The session has not taken the answer yet, and its callee has ended all the same.
        await calls.fail_call(app, token=session.pending_calls[0].token, error="No.", caller=LOCAL_PERSON)
        rows = (await runs.list_runs(app, deployment_id="asks")).runs
        assert [row.status for row in rows] == ["cancelled", "cancelled"]
        told = await sessions.resume_session(app, session_id=session.session_id or "")
        assert told.answer == "- asks: No."


def test_a_call_that_goes_on_by_itself_keeps_its_usual_action() -> None:
    call = PendingCall(token="call_1", state="deferred", capability="agents.a", arguments={}, reason=None, since="")
    assert Looked([call]).action(call, "wait") == "wait"
