"""How callers hear of the end of their calls, also where they cannot be told at once."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.wf_core.anything import nested
from tests.wf_mcp.execution.callees.place import (
    DEFER,
    Home,
    asks,
    calling,
    deploy,
    inspected,
    plan,
    run,
    saying,
    start_named,
)
from wf_core.calls.results import json_result, text_result
from wf_core.ids import RunId, SessionId
from wf_core.jsonvalue import MAX_DEPTH
from wf_core.sessions import Parent
from wf_mcp.errors import InvalidArgument
from wf_mcp.execution.callees.waking import waits_for_callees
from wf_mcp.operations import calls, recovery, runs, sessions
from wf_mcp.operations.caller import LOCAL_MODEL, LOCAL_PERSON
from wf_mcp.operations.models import RunSummary

pytestmark = pytest.mark.anyio

ANSWER = json_result({"answer": "told", "session_id": "s"})


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path)
    shouts = calling(("shout", {"text": "x"}))
    home.agent("helper", shouts, saying("{{results}}"), tools=("ops.shout",), rules={"*": DEFER})
    return home


async def waiting(home: Home) -> RunSummary:
    """Give a run that waits for its agent."""
    async with home.open() as app:
        await deploy(app, "flow", plan({"ask": asks("helper")}))
        found = await run(app, "flow")
        assert waits_for_callees(await app.stores.runs.load(RunId(found.run_id or "")))
        return found


def parent_of(found: RunSummary) -> Parent:
    return Parent("run", found.run_id or "", found.pending_calls[0].token)


async def test_a_run_takes_the_answer_once(home: Home) -> None:
    found = await waiting(home)
    async with home.open() as app:
        assert app.callees is not None
        for result in (ANSWER, json_result({"answer": "again", "session_id": "s"})):
            await app.callees.answer_run(parent_of(found), result)
            await app.callees.finish()
        assert (await inspected(app, found.run_id)).output == {"answer": "told"}


async def test_an_answer_that_is_an_error_fails_the_step(home: Home) -> None:
    found = await waiting(home)
    async with home.open() as app:
        assert app.callees is not None
        await app.callees.answer_run(parent_of(found), text_result("max_turns: enough", error=True))
        await app.callees.finish()
        failed = await inspected(app, found.run_id)
        assert failed.error is not None
        assert (failed.error.code, failed.error.message) == ("capability_error", "max_turns: enough")


async def test_a_token_of_no_run_is_nobody_to_tell(home: Home) -> None:
    async with home.open() as app:
        assert app.callees is not None
        await app.callees.answer_run(Parent("run", "run_1", "call_nonsense"), ANSWER)
        await app.callees.finish()


async def test_a_run_that_is_busy_elsewhere_hears_of_it_once_it_is_free(home: Home) -> None:
    found = await waiting(home)
    async with home.open() as app, home.open() as other:
        assert app.callees is not None
        claim = await other.stores.runs.claim(RunId(found.run_id or ""))
        await app.callees.answer_run(parent_of(found), ANSWER)
        await claim.release()
        with anyio.fail_after(10):
            await app.callees.finish()
        assert (await inspected(app, found.run_id)).output == {"answer": "told"}


async def test_recovering_a_run_by_name_asks_its_callees(home: Home) -> None:
    found = await waiting(home)
    async with home.open() as app:
        (row,) = (await sessions.list_sessions(app)).sessions
        view = await app.sessions.view(SessionId(row.session_id))
        await calls.complete_call(app, token=view.pending[0].token, result="loud", caller=LOCAL_MODEL)
        (recovered,) = (await recovery.recover_runs(app, run_id=found.run_id)).runs
        assert recovered.status == "completed"


async def test_a_person_may_have_the_callee_asked_again(home: Home) -> None:
    found = await waiting(home)
    async with home.open() as app:
        told = await calls.retry_call(app, token=found.pending_calls[0].token, caller=LOCAL_PERSON)
        assert isinstance(told, RunSummary)
        assert (told.status, [call.awaits for call in told.pending_calls]) == ("interrupted", ["callee"])
        assert len((await sessions.list_sessions(app)).sessions) == 1


async def test_a_call_whose_session_is_gone_is_in_doubt_and_begins_again_only_by_a_persons_word(home: Home) -> None:
    found = await waiting(home)
    async with home.open() as app:
        (row,) = (await sessions.list_sessions(app)).sessions
        await app.stores.sessions.delete(SessionId(row.session_id))
        lost = await inspected(app, found.run_id)
        (call,) = lost.pending_calls
        assert (lost.status, call.state, call.awaits) == ("interrupted", "in_doubt", "in_doubt")
        assert row.session_id in (call.reason or "")
        await recovery.recover_runs(app)
        assert (await sessions.list_sessions(app)).sessions == []
        await calls.retry_call(app, token=call.token, caller=LOCAL_PERSON)
        assert len((await sessions.list_sessions(app)).sessions) == 1


async def test_asking_again_begins_nothing_where_the_session_is_gone(home: Home) -> None:
    found = await waiting(home)
    async with home.open() as app:
        (row,) = (await sessions.list_sessions(app)).sessions
        await app.stores.sessions.delete(SessionId(row.session_id))
        told = await calls.retry_call(app, token=found.pending_calls[0].token, caller=LOCAL_PERSON)
        (call,) = told.pending_calls
        assert (call.awaits, (await sessions.list_sessions(app)).sessions) == ("in_doubt", [])


async def test_asking_the_callees_of_a_run_that_waits_for_none_does_nothing(home: Home) -> None:
    found = await waiting(home)
    async with home.open() as app:
        assert app.callees is not None
        await app.callees.answer_run(parent_of(found), ANSWER)
        await app.callees.finish()
        await app.callees.ask(RunId(found.run_id or ""))
        await app.callees.ask(RunId("run_1"))


async def test_a_run_that_somebody_starts_in_the_name_of_a_call_answers_nothing_but_a_callee(home: Home) -> None:
    """An idempotency key is anybody's to choose, and that of a run which is called names the call."""
    nothing: dict[str, Any] = {"name": "forged", "start": "end", "steps": {"end": {"type": "end", "outcome": "ok"}}}
    counts = {"type": "node", "use": "ops.count", "input": {"who": {"value": "x"}}, "routes": {"ok": "__end__"}}
    async with home.open() as app:
        assert app.callees is not None
        await deploy(app, "forged", nothing)
        await deploy(
            app, "counts", plan({"count": counts}), call_policy={"rules": [{"tool": "*", "disposition": DEFER}]}
        )
        found = await run(app, "counts")
        session_id = (await sessions.start_session(app, agent="helper", prompt="go")).session_id
        assert session_id is not None
        session = await sessions.resume_session(app, session_id=session_id)
        called = (found.run_id, "c1"), (session_id, session.pending_calls[0].call_id)
        for owner, call_id in called:
            with pytest.raises(InvalidArgument, match="idempotency_key"):
                await runs.run_deployment(app, deployment_id="forged", idempotency_key=f"{owner}:{call_id}")
            await start_named(app, "forged", f"{owner}:{call_id}")
        assert [row.status for row in (await runs.list_runs(app, deployment_id="forged")).runs] == ["completed"] * 2
        await app.callees.finish()
        assert (await inspected(app, found.run_id)).pending_calls == found.pending_calls
        assert (await sessions.inspect_session(app, session_id=session_id)).pending_calls == session.pending_calls


async def test_a_run_whose_callee_says_what_it_cannot_take_fails_there_and_does_not_wait_on(home: Home) -> None:
    found = await waiting(home)
    async with home.open() as app:
        assert app.callees is not None
        await app.callees.answer_run(parent_of(found), json_result({"answer": nested(MAX_DEPTH), "session_id": "s"}))
        await app.callees.finish()
        ended = await inspected(app, found.run_id)
        assert ended.status == "failed"
        assert ended.error is not None
        assert ended.error.message.startswith("output_invalid: ")
