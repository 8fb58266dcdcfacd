"""Callees end with their callers, however deep, whoever dies in between, and only those."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.wf_mcp.execution.callees.place import DEFER, Home, asks, calling, deploy, inspected, plan, run, saying
from wf_artifacts.errors import StoreUnavailable
from wf_core.ids import RunId, SessionId
from wf_mcp.app import App
from wf_mcp.execution.callees import ending
from wf_mcp.execution.callees.ending import Ending, keep_ending_callees
from wf_mcp.operations import calls, pending, recovery, runs, sessions
from wf_mcp.operations.caller import LOCAL_PERSON

pytestmark = pytest.mark.anyio

LEVELS = 6


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path)
    home.agent("leaf", calling(("shout", {"text": "x"})), saying("done"), tools=("ops.shout",), rules={"*": DEFER})
    return home


@pytest.fixture
def nest(home: Home) -> Home:
    """Add agents that call the workflows of `deploy_nest`."""
    for level in range(1, LEVELS // 2):
        home.agent(f"agent{level}", calling((f"flow{level - 1}", {})), saying("done"), tools=("workflows.*",))
    return home


async def deploy_nest(app: App) -> str:
    """Deploy workflows that call agents that call workflows, six deep, the last of which waits; name the outermost."""
    for level in range(LEVELS // 2):
        await deploy(app, f"flow{level}", plan({"ask": asks(f"agent{level}" if level else "leaf")}))
    return f"flow{LEVELS // 2 - 1}"


async def waits(app: App) -> int:
    return len((await pending.list_pending(app, limit=100)).pending)


async def test_cancelling_a_run_ends_everything_below_it_and_says_why(nest: Home) -> None:
    async with nest.open() as app:
        name = await deploy_nest(app)
        found, other = await run(app, name), await run(app, name)
        assert await waits(app) == 2 * LEVELS
        await runs.cancel_run(app, run_id=found.run_id or "")
        assert await waits(app) == LEVELS
        ended = [row for row in (await sessions.list_sessions(app)).sessions if row.status == "failed"]
        cancelled = [row for row in (await runs.list_runs(app)).runs if row.status == "cancelled"]
        assert (len(ended), len(cancelled)) == (LEVELS // 2, LEVELS // 2)
        assert {row.error_code for row in ended} == {"cancelled"}
        topmost = await sessions.inspect_session(app, session_id=min(ended, key=lambda row: row.created_at).session_id)
        assert topmost.error is not None
        assert topmost.error.message == f"The run {found.run_id}, which called this, was cancelled."
        await runs.cancel_run(app, run_id=other.run_id or "")
        assert await waits(app) == 0


async def test_who_ends_before_its_callees_do_leaves_them_to_whoever_looks_next(nest: Home) -> None:
    async with nest.open() as app:
        name = await deploy_nest(app)
        found, other = await run(app, name), await run(app, name)
        app.runs.on_stop = None
        await app.runs.cancel(RunId(found.run_id or ""), reason=None)
        assert await waits(app) == 2 * LEVELS - 1
    async with nest.open() as app:
        await recovery.recover_runs(app)
        assert await waits(app) == LEVELS
        assert (await inspected(app, other.run_id, 0)).status == "interrupted"


async def test_a_step_that_ends_in_another_way_ends_its_callee_alone(home: Home) -> None:
    """A person fails one of two calls; the run goes on, and the other agent with it."""
    steps: dict[str, Any] = {
        "first": {**asks("leaf", to="second"), "routes": {"ok": "second", "error": "second"}},
        "second": asks("leaf"),
    }
    async with home.open() as app:
        await deploy(app, "flow", plan(steps))
        found = await run(app, "flow")
        await calls.fail_call(app, token=found.pending_calls[0].token, error="enough", caller=LOCAL_PERSON)
        rows = (await sessions.list_sessions(app)).sessions
        assert sorted(row.status for row in rows) == ["failed", "waiting"]
        assert (await inspected(app, found.run_id, 0)).pending_calls[0].path == ["second"]


async def test_a_run_that_fails_ends_what_its_other_branch_called(home: Home) -> None:
    fails = {"type": "node", "use": "wf.std.fail", "input": {"message": {"value": "no"}}, "routes": {"ok": "__end__"}}
    both = {"type": "parallel", "branches": {"waits": "ask", "fails": "question"}, "routes": {"done": "__end__"}}
    answer = {"resume_schema": {"type": "object"}, "resume": {}, "routes": {"submitted": "stop"}}
    question = {"type": "interrupt", "kind": "approval", **answer}
    steps = {"both": both, "ask": asks("leaf"), "question": question, "stop": fails}
    async with home.open() as app:
        await deploy(app, "flow", plan(steps))
        found = await run(app, "flow")
        failed = await runs.resume_run(app, run_id=found.run_id or "", caller=LOCAL_PERSON)
        assert failed.status == "failed"
        assert app.callees is not None
        await app.callees.finish()
        assert [row.status for row in (await sessions.list_sessions(app)).sessions] == ["failed"]
        assert await waits(app) == 0


async def test_deleting_a_session_ends_its_callees(home: Home) -> None:
    home.agent("outer", calling(("flow", {})), saying("done"), tools=("workflows.flow",))
    async with home.open() as app:
        await deploy(app, "flow", plan({"ask": asks("leaf")}))
        outer = (await sessions.start_session(app, agent="outer", prompt="go")).session_id or ""
        await sessions.resume_session(app, session_id=outer)
        assert await waits(app) == 3
        await sessions.delete_session(app, session_id=outer)
        assert await waits(app) == 0
        assert [row.status for row in (await runs.list_runs(app)).runs] == ["cancelled"]


async def test_a_callee_that_another_process_is_at_is_ended_once_that_lets_go(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ending, "BUSY_SECONDS", 0.01)
    monkeypatch.setattr(ending, "MOST_TRIES", 1000)
    async with home.open() as app, home.open() as other:
        await deploy(app, "flow", plan({"ask": asks("leaf")}))
        found = await run(app, "flow")
        (row,) = (await sessions.list_sessions(app)).sessions
        assert app.callees is not None
        await app.callees.finish()  # asking the agent once more
        claim = await other.stores.sessions.claim(SessionId(row.session_id))
        app.runs.on_stop = None
        await app.runs.cancel(RunId(found.run_id or ""), reason=None)
        ends = Ending(app.stores, app.runs, app.sessions)
        assert not await ends.callees_of(found.run_id or "")
        assert await waits(app) == 1
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ends.callees_of_soon, found.run_id or "")
            await anyio.sleep(0.02)
            await claim.release()
        assert await waits(app) == 0


async def test_who_asks_while_they_are_being_ended_hears_once_all_of_them_are(nest: Home) -> None:
    async with nest.open() as app:
        found = await run(app, await deploy_nest(app))
        app.runs.on_stop = None
        await app.runs.cancel(RunId(found.run_id or ""), reason=None)
        ends, left = Ending(app.stores, app.runs, app.sessions), list[int]()

        async def ask() -> None:
            assert await ends.callees_of(found.run_id or "")
            left.append(await waits(app))

        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(ask)
        assert left == [0, 0, 0]


async def test_at_the_end_of_a_run_that_can_call_nobody_nothing_is_looked_for(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There may be very many others."""
    asks_somebody = {"type": "interrupt", "kind": "question", "routes": {"submitted": "__end__"}}
    async with home.open() as app:
        await deploy(app, "flow", plan({"ask": asks_somebody}))
        found = await run(app, "flow")
        monkeypatch.setattr(app.stores.runs, "list_runs", None)
        monkeypatch.setattr(app.stores.sessions, "list_sessions", None)
        assert (await runs.cancel_run(app, run_id=found.run_id or "")).status == "cancelled"


async def test_callees_that_nobody_waits_for_are_ended_at_every_look_whatever_goes_wrong_at_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ending, "FIRST_LOOK_SECONDS", 0.0)
    monkeypatch.setattr(ending, "LOOK_SECONDS", 0.0)
    looked, often = list[int](), anyio.Event()

    async def end_callees() -> None:
        looked.append(len(looked))
        if len(looked) == 3:
            often.set()
        raise StoreUnavailable("the runs", "the disk stumbled")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(keep_ending_callees, end_callees)
        with anyio.fail_after(5):
            await often.wait()
        tasks.cancel_scope.cancel()
