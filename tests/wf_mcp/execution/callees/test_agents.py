"""Agents that are called by steps of workflows and by other agents: a call is a session, and waits while it waits."""

from pathlib import Path

import pytest

from tests.wf_mcp.execution.callees.place import DEFER, Home, asks, calling, deploy, inspected, plan, run, saying
from wf_core.ids import RunId, SessionId
from wf_mcp.execution.sessions.errors import SessionInUse
from wf_mcp.operations import calls, runs, sessions, sources
from wf_mcp.operations.caller import LOCAL_MODEL, LOCAL_PERSON

pytestmark = pytest.mark.anyio


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


async def test_a_step_calls_an_agent_and_takes_its_answer(home: Home) -> None:
    home.agent("helper", saying("You said: {{query}}"))
    async with home.open() as app:
        await deploy(app, "flow", plan({"ask": asks("helper", "hello")}))
        done = await run(app, "flow")
        assert (done.status, done.output) == ("completed", {"answer": "You said: hello"})
        (row,) = (await sessions.list_sessions(app)).sessions
        assert row.status == "answered"
        shown = await sessions.inspect_session(app, session_id=row.session_id)
        assert shown.parent == done.run_id


async def test_the_agents_of_the_configuration_are_capabilities(home: Home) -> None:
    home.agent("helper", saying("Yes."))
    home.agent("broken", saying("No."))
    (home.folder / "broken.agent.json").write_text("{}")
    async with home.open() as app:
        listed = await sources.list_capabilities(app, source="agents")
        assert [one.name for one in listed.capabilities] == ["agents.helper"]
        assert [one.code for one in listed.diagnostics] == ["invalid_agent"]
        assert listed.capabilities[0].description == "The agent helper."


async def test_a_home_without_agents_has_no_such_source(home: Home) -> None:
    async with home.open() as app:
        assert [one.name for one in (await sources.list_sources(app)).sources] == ["wf.std", "ops"]


async def test_a_run_waits_while_the_session_waits_across_processes_and_takes_its_answer(home: Home) -> None:
    home.agent(
        "helper", calling(("shout", {"text": "x"})), saying("{{results}}"), tools=("ops.shout",), rules={"*": DEFER}
    )
    async with home.open() as app:
        await deploy(app, "flow", plan({"ask": asks("helper")}))
        waiting = await run(app, "flow")
        assert (waiting.status, waiting.resume_readiness) == ("interrupted", "ready")
        (call,) = waiting.pending_calls
        assert (call.state, call.awaits, call.capability) == ("deferred", "callee", "agents.helper")
        (row,) = (await sessions.list_sessions(app)).sessions
        assert call.reason is not None
        assert row.session_id in call.reason
    async with home.open() as app:
        view = await app.sessions.view(SessionId(row.session_id))
        await calls.complete_call(app, token=view.pending[0].token, result="loud", caller=LOCAL_MODEL)
    async with home.open() as app:
        done = await inspected(app, waiting.run_id)
        assert (done.status, done.output) == ("completed", {"answer": "- shout: loud"})


async def test_a_session_that_is_resumed_in_any_process_lets_its_run_go_on(home: Home) -> None:
    home.agent(
        "helper", calling(("shout", {"text": "x"})), saying("{{results}}"), tools=("ops.shout",), rules={"*": DEFER}
    )
    async with home.open() as app:
        await deploy(app, "flow", plan({"ask": asks("helper", to="again"), "again": asks("helper", "state.answer")}))
        waiting = await run(app, "flow")
    async with home.open() as app:
        (row,) = (await sessions.list_sessions(app)).sessions
        view = await app.sessions.view(SessionId(row.session_id))
        await calls.complete_call(app, token=view.pending[0].token, result="loud", caller=LOCAL_MODEL)
        await sessions.resume_session(app, session_id=row.session_id)
        assert app.callees is not None
        await app.callees.finish()
        stopped = await app.stores.runs.load(RunId(waiting.run_id or ""))
        assert (stopped.status, stopped.steps_executed) == ("interrupted", 2)
        assert [one["id"] for one in stopped.pending_calls] == ["c2"]


async def test_a_result_for_a_call_that_waits_for_its_agent_may_be_delivered_by_hand(home: Home) -> None:
    home.agent("helper", calling(("shout", {"text": "x"})), saying("late"), tools=("ops.shout",), rules={"*": DEFER})
    async with home.open() as app:
        await deploy(app, "flow", plan({"ask": asks("helper")}))
        waiting = await run(app, "flow")
        token = waiting.pending_calls[0].token
        told = {"answer": "by hand", "session_id": "none"}
        done = await calls.complete_call(app, token=token, result=told, caller=LOCAL_PERSON)
        assert done.status == "completed"
        (row,) = (await sessions.list_sessions(app)).sessions
        assert (row.status, row.pending, row.error_code) == ("failed", 0, "cancelled")
        assert (await sessions.resume_session(app, session_id=row.session_id, prompt="And?")).answer == "late"
        done = await inspected(app, waiting.run_id)
        assert done.output == {"answer": "by hand"}


async def test_looking_at_a_run_does_not_go_on_with_what_a_person_paused(home: Home) -> None:
    """Neither does it one level down; who resumes the caller of a session itself goes on with both."""
    counts = calling(("shout", {"text": "x"}), ("count", {"who": "inner"}))
    home.agent("inner", counts, saying("done"), tools=("ops.*",), rules={"shout": DEFER})
    home.agent("outer", calling(("inner", {"prompt": "go"})), saying("{{results}}"), tools=("agents.inner",))
    async with home.open() as app:
        await deploy(app, "flow", plan({"ask": asks("outer")}))
        found = await run(app, "flow")
        by_agent = {row.agent: row.session_id for row in (await sessions.list_sessions(app)).sessions}
        assert app.callees is not None
        await app.callees.finish()  # asking the agents once more
        inner = await sessions.pause_session(app, session_id=by_agent["inner"])
        await calls.complete_call(app, token=inner.pending_calls[0].token, result="loud", caller=LOCAL_MODEL)
        assert (await inspected(app, found.run_id, 1)).status == "interrupted"
        assert (await sessions.inspect_session(app, session_id=by_agent["inner"])).answer is None
        await sessions.pause_session(app, session_id=by_agent["outer"])
        await inspected(app, found.run_id, 1)
        assert (await sessions.inspect_session(app, session_id=by_agent["inner"])).answer is None
        await sessions.resume_session(app, session_id=by_agent["outer"], auto=True)
        assert (await sessions.inspect_session(app, session_id=by_agent["inner"])).answer == "done"
        assert (await inspected(app, found.run_id)).status == "completed"
    assert home.counted == ["inner"]


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
async def test_agents_inside_each_other_make_each_call_once(home: Home, depth: int) -> None:
    home.agent("a1", calling(("count", {"who": "a1"})), saying("done"), tools=("ops.count",))
    for level in range(2, depth + 1):
        below = f"a{level - 1}"
        home.agent(
            f"a{level}",
            calling(("count", {"who": f"a{level}"}), (below, {"prompt": "go"})),
            saying("{{results}}"),
            tools=("ops.count", f"agents.{below}"),
        )
    async with home.open() as app:
        await deploy(app, "flow", plan({"ask": asks(f"a{depth}")}))
        done = await run(app, "flow")
        assert done.status == "completed", done.error
    assert sorted(home.counted) == [f"a{level}" for level in range(1, depth + 1)]


async def test_agents_that_wait_four_deep_are_woken_from_below_and_make_each_call_once(home: Home) -> None:
    home.agent(
        "a1", calling(("count", {"who": "a1"}), ("shout", {"text": "x"})), saying("deep: {{results}}"),
        tools=("ops.count", "ops.shout"), rules={"shout": DEFER},
    )  # fmt: skip
    for level in range(2, 5):
        below = f"a{level - 1}"
        home.agent(
            f"a{level}",
            calling(("count", {"who": f"a{level}"}), (below, {"prompt": "go"})),
            saying(f"a{level} done"),
            tools=("ops.count", f"agents.{below}"),
        )
    async with home.open() as app:
        await deploy(app, "flow", plan({"ask": asks("a4")}))
        waiting = await run(app, "flow")
        assert waiting.status == "interrupted"
    async with home.open() as app:
        rows = (await sessions.list_sessions(app)).sessions
        assert len(rows) == 4
        (deepest,) = [row for row in rows if row.agent == "a1"]
        view = await app.sessions.view(SessionId(deepest.session_id))
        await calls.complete_call(app, token=view.pending[0].token, result="loud", caller=LOCAL_MODEL)
    async with home.open() as app:
        done = await inspected(app, waiting.run_id)
        assert (done.status, done.output) == ("completed", {"answer": "a4 done"})
    assert sorted(home.counted) == ["a1", "a2", "a3", "a4"]


async def test_an_agent_that_calls_itself_is_stopped(home: Home) -> None:
    home.agent("loops", calling(("loops", {"prompt": "again"})), saying("{{results}}"), tools=("agents.loops",))
    async with home.open() as app:
        await deploy(app, "flow", plan({"ask": asks("loops")}))
        done = await run(app, "flow")
        assert done.status == "completed"
        assert "call_too_deep" in str(done.output)
        assert len((await sessions.list_sessions(app)).sessions) == 7


async def test_a_model_that_does_not_answer_fails_the_step_and_says_so(home: Home) -> None:
    home.agent("helper")
    async with home.open() as app:
        await deploy(app, "flow", plan({"ask": asks("helper")}))
        done = await run(app, "flow")
        assert done.status == "failed"
        assert done.error is not None
        assert (done.error.code, done.error.side_effects) == ("model_unusable", "unknown")


async def test_an_agent_that_fails_answers_error(home: Home) -> None:
    home.agent("helper", *[calling(("shout", {"text": "x"}))] * 60, tools=("ops.shout",))
    async with home.open() as app:
        await deploy(app, "flow", plan({"ask": asks("helper")}))
        done = await run(app, "flow")
        assert done.status == "failed"
        assert done.error is not None
        assert done.error.code == "capability_error"
        assert "max_turns" in done.error.message


async def test_a_session_is_not_deleted_while_a_run_waits_for_it(home: Home) -> None:
    """The run would call its agent anew, and that would make its calls once more."""
    home.agent(
        "helper",
        calling(("count", {"who": "x"}), ("shout", {"text": "x"})),
        saying("{{results}}"),
        tools=("ops.*",),
        rules={"shout": DEFER},
    )
    async with home.open() as app:
        await deploy(app, "flow", plan({"ask": asks("helper")}))
        waiting = await run(app, "flow")
        (row,) = (await sessions.list_sessions(app)).sessions
        with pytest.raises(SessionInUse, match=str(waiting.run_id)):
            await sessions.delete_session(app, session_id=row.session_id)
        await inspected(app, waiting.run_id, 0)
        await runs.cancel_run(app, run_id=RunId(waiting.run_id or ""))
        await sessions.delete_session(app, session_id=row.session_id)
        assert (await sessions.list_sessions(app)).sessions == []
    assert home.counted == ["x"]


async def test_a_session_is_not_deleted_while_another_session_waits_for_it(home: Home) -> None:
    home.agent("inner", calling(("shout", {"text": "x"})), saying("done"), tools=("ops.shout",), rules={"*": DEFER})
    home.agent("outer", calling(("inner", {"prompt": "go"})), saying("{{results}}"), tools=("agents.inner",))
    async with home.open() as app:
        outer = (await sessions.start_session(app, agent="outer", prompt="go")).session_id
        assert outer is not None
        await sessions.resume_session(app, session_id=outer)
        (inner,) = [one for one in (await sessions.list_sessions(app)).sessions if one.agent == "inner"]
        with pytest.raises(SessionInUse, match=outer):
            await sessions.delete_session(app, session_id=inner.session_id)
        await sessions.delete_session(app, session_id=outer)
        await sessions.delete_session(app, session_id=inner.session_id)
        assert (await sessions.list_sessions(app)).sessions == []


async def test_an_agent_whose_call_was_approved_is_called_and_may_wait(home: Home) -> None:
    counts = calling(("count", {"who": "inner"}), ("shout", {"text": "x"}))
    home.agent("inner", counts, saying("{{results}}"), tools=("ops.*",), rules={"shout": DEFER})
    approval = {**DEFER, "approval": True}
    asks_inner = calling(("inner", {"prompt": "go"}))
    home.agent("outer", asks_inner, saying("{{results}}"), tools=("agents.inner",), rules={"inner": approval})
    async with home.open() as app:
        outer = (await sessions.start_session(app, agent="outer", prompt="go")).session_id
        assert outer is not None
        (call,) = (await sessions.resume_session(app, session_id=outer)).pending_calls
        assert (call.awaits, home.counted) == ("approval", [])
        await calls.approve_call(app, token=call.token, caller=LOCAL_PERSON)
        (call,) = (await sessions.resume_session(app, session_id=outer)).pending_calls
        assert (call.awaits, home.counted) == ("callee", ["inner"])
        (inner,) = [one for one in (await sessions.list_sessions(app)).sessions if one.agent == "inner"]
        (shout,) = (await sessions.inspect_session(app, session_id=inner.session_id)).pending_calls
        await calls.complete_call(app, token=shout.token, result="loud")
        await sessions.resume_session(app, session_id=inner.session_id)
        ended = await sessions.resume_session(app, session_id=outer)
        assert ended.status == "answered"
        assert "loud" in (ended.answer or "")
    assert home.counted == ["inner"]
