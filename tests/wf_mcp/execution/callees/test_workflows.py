"""Deployments that agents call as tools: a call is a run, and waits while the run waits for somebody."""

from pathlib import Path
from typing import Any

import pytest

from tests.wf_core.anything import nested
from tests.wf_mcp.execution.callees.place import Home, asks, calling, deploy, inspected, plan, run, saying
from wf_core.calls.results import JsonContent, as_text
from wf_core.codec.sessions import replay
from wf_core.ids import RunId, SessionId
from wf_core.jsonvalue import MAX_DEPTH
from wf_core.sessions import UserTurn
from wf_mcp.app import App
from wf_mcp.config.agents import load_agent
from wf_mcp.execution.agents import pin_agent
from wf_mcp.execution.sessions.forking import store_fork
from wf_mcp.execution.sessions.views import SessionView
from wf_mcp.operations import calls, runs, sessions, sources
from wf_mcp.operations.caller import LOCAL_PERSON

pytestmark = pytest.mark.anyio

COUNTS = plan(
    {
        "count": {
            "type": "node",
            "use": "ops.count",
            "input": {"who": {"path": "input.who"}},
            "output": {"state.who": "who"},
            "routes": {"ok": "__end__"},
        }
    },
    output="who",
) | {
    "input_schema": {"type": "object", "properties": {"who": {"type": "string"}}, "required": ["who"]},
}

QUESTION: dict[str, Any] = {
    "type": "interrupt",
    "kind": "approval",
    "resume": {"state.answer": "words"},
    "routes": {"submitted": "__end__"},
}
ASKS = plan({"ask": QUESTION})


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


async def resumed(app: App, session_id: str) -> SessionView:
    await app.sessions.wait(await app.sessions.resume(SessionId(session_id)))
    return await app.sessions.view(SessionId(session_id))


async def started(app: App, slug: str, *, auto: bool = False) -> SessionView:
    """Start a session of an agent, and let it go as far as it goes."""
    folder = app.config.folder
    pinned = await pin_agent(app.registry, load_agent(folder / f"{slug}.agent.json"), origin={"config": slug})
    assert pinned.snapshot is not None, pinned.issues
    handle = await app.sessions.create(pinned.snapshot, "go", principal="local", auto=auto)
    return await resumed(app, handle.session_id)


def last_results(view: SessionView) -> str:
    return str(view.session.turns[-2])


async def test_an_agent_runs_a_workflow_and_is_told_its_outcome_and_output(home: Home) -> None:
    home.agent("user", calling(("counts", {"who": "me"})), saying("done"), tools=("workflows.counts",))
    async with home.open() as app:
        await deploy(app, "counts", COUNTS)
        view = await started(app, "user")
        assert view.record.status == "answered"
        (row,) = (await runs.list_runs(app)).runs
        assert row.run_id in last_results(view)
        assert "'outcome': 'ok', 'output': {'who': 'me'}" in last_results(view)
    assert home.counted == ["me"]


async def test_the_input_of_the_tool_is_that_of_the_plan(home: Home) -> None:
    async with home.open() as app:
        await deploy(app, "counts", COUNTS)
        shown = await sources.inspect_capability(app, name="workflows.counts")
        assert shown.input_schema == COUNTS["input_schema"]
        assert (shown.outcomes, shown.hints.idempotent) == (["ok", "error"], True)
        assert "workflows" not in [one.name for one in (await sources.list_sources(app)).sources]
        everything = (await sources.list_capabilities(app, limit=100)).capabilities
        assert not [one.name for one in everything if one.source == "workflows"]


async def test_a_run_that_asks_lets_the_session_wait_and_its_end_wakes_it(home: Home) -> None:
    home.agent("user", calling(("asks", {})), saying("done"), tools=("workflows.asks",))
    async with home.open() as app:
        await deploy(app, "asks", ASKS)
        view = await started(app, "user")
        assert view.record.status == "waiting"
        (row,) = (await runs.list_runs(app)).runs
        assert view.pending[0].reason == f"the run {row.run_id} asks approval at ask (int_1)"
    async with home.open() as app:
        await runs.resume_run(app, run_id=row.run_id, resume_payload={"words": "yes"}, caller=LOCAL_PERSON)
        assert app.callees is not None
        await app.callees.finish()
    async with home.open() as app:
        view = await resumed(app, view.record.session_id)
        assert view.record.status == "answered"
        assert "{'answer': 'yes'}" in last_results(view)
        assert len((await runs.list_runs(app)).runs) == 1


async def test_an_end_that_nobody_told_is_found_when_the_session_goes_on(home: Home) -> None:
    home.agent("user", calling(("asks", {})), saying("done"), tools=("workflows.asks",))
    async with home.open() as app:
        await deploy(app, "asks", ASKS)
        view = await started(app, "user")
        (row,) = (await runs.list_runs(app)).runs
    async with home.open() as app:
        app.runs.on_stop = None
        await runs.resume_run(app, run_id=row.run_id, resume_payload={"words": "yes"}, caller=LOCAL_PERSON)
    async with home.open() as app:
        view = await resumed(app, view.record.session_id)
        assert view.record.status == "answered"
        assert "{'answer': 'yes'}" in last_results(view)


async def test_a_run_that_is_cancelled_is_an_error_that_the_model_is_told(home: Home) -> None:
    home.agent("user", calling(("asks", {})), saying("{{results}}"), tools=("workflows.asks",))
    async with home.open() as app:
        await deploy(app, "asks", ASKS)
        view = await started(app, "user")
        (row,) = (await runs.list_runs(app)).runs
        await runs.cancel_run(app, run_id=row.run_id, reason="enough")
        view = await resumed(app, view.record.session_id)
        assert view.record.status == "answered"
        assert "cancelled: enough" in (view.record.answer or "")


async def test_a_workflow_that_cannot_be_run_is_an_error_that_the_model_is_told(home: Home) -> None:
    home.agent("user", calling(("counts", {"who": 3})), saying("{{results}}"), tools=("workflows.counts",))
    async with home.open() as app:
        await deploy(app, "counts", COUNTS)
        view = await started(app, "user")
        assert view.record.status == "answered"
        assert (await runs.list_runs(app)).runs == []


async def test_a_workflow_that_asks_an_agent_that_runs_it_is_stopped(home: Home) -> None:
    home.agent("user", calling(("flow", {})), saying("{{results}}"), tools=("workflows.flow",))
    async with home.open() as app:
        await deploy(app, "flow", plan({"ask": asks("user")}))
        done = await run(app, "flow")
        assert done.status == "completed"
        assert "call_too_deep" in str(done.output)
        everything = len((await runs.list_runs(app)).runs) + len((await sessions.list_sessions(app)).sessions)
        assert everything == 8


async def test_workflows_and_agents_that_wait_inside_each_other_are_woken_by_one_answer(home: Home) -> None:
    home.agent("user", calling(("asks", {})), saying("told"), tools=("workflows.asks",))
    async with home.open() as app:
        await deploy(app, "asks", ASKS)
        await deploy(app, "flow", plan({"ask": asks("user")}))
        waiting = await run(app, "flow")
        assert waiting.status == "interrupted"
        (inner,) = [row for row in (await runs.list_runs(app)).runs if row.deployment_id == "asks"]
        await runs.resume_run(app, run_id=inner.run_id, resume_payload={"words": "yes"}, caller=LOCAL_PERSON)
        done = await runs.inspect_run(app, run_id=RunId(waiting.run_id or ""), wait_seconds=10)
        assert (done.status, done.output) == ("completed", {"answer": "told"})


PAYS_AND_ASKS = plan(
    {
        "pay": {"type": "node", "use": "ops.count", "input": {"who": {"value": "paid"}}, "routes": {"ok": "ask"}},
        "ask": QUESTION,
    }
)


@pytest.fixture
def gated(home: Home) -> Home:
    """Give a home with an agent that calls a workflow which pays, then asks."""
    home.agent("user", calling(("gate", {})), saying("{{results}}"), tools=("workflows.gate",))
    return home


async def test_a_session_whose_run_is_gone_is_in_doubt_and_starts_none_unasked(gated: Home) -> None:
    async with gated.open() as app:
        await deploy(app, "gate", PAYS_AND_ASKS)
        view = await started(app, "user")
        (row,) = (await runs.list_runs(app)).runs
        await app.stores.runs.delete(RunId(row.run_id))
        await resumed(app, view.record.session_id)
        await resumed(app, view.record.session_id)
        shown = await sessions.inspect_session(app, session_id=view.record.session_id)
        assert (gated.counted, (await runs.list_runs(app)).runs) == (["paid"], [])
        (call,) = shown.pending_calls
        assert call.state == "in_doubt"
        assert "workflows.gate" in (call.reason or "")
        assert row.run_id in (call.reason or "")
        await calls.retry_call(app, token=call.token, caller=LOCAL_PERSON)
        await resumed(app, view.record.session_id)
    assert gated.counted == ["paid", "paid"]


async def test_a_run_whose_run_is_gone_is_in_doubt_names_it_and_starts_none_unasked(home: Home) -> None:
    calls_gate = {"gate": {"type": "node", "use": "workflows.gate", "input": {}, "routes": {"ok": "__end__"}}}
    async with home.open() as app:
        await deploy(app, "gate", PAYS_AND_ASKS)
        await deploy(app, "outer", plan(calls_gate))
        outer = await run(app, "outer")
        (inner,) = [one.run_id for one in (await runs.list_runs(app)).runs if one.run_id != outer.run_id]
        await app.stores.runs.delete(RunId(inner))
    async with home.open() as app:
        (call,) = (await inspected(app, outer.run_id)).pending_calls
        assert (call.awaits, home.counted) == ("in_doubt", ["paid"])
        assert inner in (call.reason or "")
        told = await calls.retry_call(app, token=call.token, caller=LOCAL_PERSON)
        assert [one.awaits for one in told.pending_calls] == ["callee"]
    assert home.counted == ["paid", "paid"]


async def test_a_copy_of_a_session_that_waits_for_a_run_does_not_start_it_again_unasked(gated: Home) -> None:
    async with gated.open() as app:
        await deploy(app, "gate", PAYS_AND_ASKS)
        view = await started(app, "user")
        (row,) = (await runs.list_runs(app)).runs
        copy = await sessions.fork_session(app, session_id=view.record.session_id)
        (call,) = copy.pending_calls
        assert call.state == "in_doubt"
        assert view.record.session_id in (call.reason or "")
        assert row.run_id not in (call.reason or "")
        await resumed(app, copy.session_id or "")
        assert gated.counted == ["paid"]
        assert [one.kind for one in (await app.sessions.view(view.record.session_id)).pending] == ["callee"]


async def test_a_copy_that_is_made_while_the_run_starts_does_not_start_it_again_unasked(gated: Home) -> None:
    """The original is stored as one that has its call still before it."""
    async with gated.open() as app:
        await deploy(app, "gate", PAYS_AND_ASKS)
        view = await started(app, "user")
        original = await app.stores.sessions.load(view.record.session_id)
        earlier = [event for event in original.events if b'"deferred"' not in event]
        async with await app.stores.sessions.claim(view.record.session_id) as claim:
            session = replay(original.header, earlier)
            named = await store_fork(app.sessions.means, original.record, session)
            assert claim.session_id == view.record.session_id
        await resumed(app, named)
        assert gated.counted == ["paid"]
        (call,) = (await sessions.inspect_session(app, session_id=named)).pending_calls
        assert call.state == "in_doubt"


async def test_a_deep_output_is_given_as_json_or_else_as_an_error_and_never_in_other_words(home: Home) -> None:
    gives = COUNTS | {"input_schema": {}, "output": {"x": {"path": "input.x"}}}
    depths = range(MAX_DEPTH - 6, MAX_DEPTH)
    calls_of_it = [("gives", {"who": "me", "x": nested(depth)}) for depth in depths]
    home.agent("boss", calling(*calls_of_it), saying("Done."), tools=("workflows.gives",))
    async with home.open() as app:
        await deploy(app, "gives", gives)
        shown = await started(app, "boss")
        assert shown.record.answer == "Done."
        turn = shown.session.turns[2]
        assert isinstance(turn, UserTurn)
        *whole, deepest = [placed.result for placed in turn.results]
    for depth, result in zip(depths, whole, strict=False):
        assert isinstance(result.content, JsonContent)
        assert isinstance(result.content.content, dict)
        assert result.content.content["output"] == {"x": nested(depth)}
    assert as_text(deepest).startswith("output_invalid: The result of workflows.gives cannot be stored: deeper than")
