"""Which callees nobody waits for."""

from pathlib import Path

import pytest

from tests.wf_mcp.execution.callees.place import DEFER, Home, asks, calling, deploy, plan, run, saying, start_named
from wf_core.calls.results import text_result
from wf_core.ids import RunId, SessionId
from wf_mcp.app import App
from wf_mcp.execution.callees.orphans import under_way, why_unwanted
from wf_mcp.execution.sessions.answers import delivery_of
from wf_mcp.operations import runs, sessions

pytestmark = pytest.mark.anyio


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path)
    home.agent("inner", calling(("shout", {"text": "x"})), saying("done"), tools=("ops.shout",), rules={"*": DEFER})
    home.agent("user", calling(("waits", {})), saying("done"), tools=("workflows.waits",))
    return home


async def unwanted(app: App) -> dict[str, str | None]:
    """Say of each callee that is under way why nobody waits for it, by its id."""
    return {called.id: await why_unwanted(app.stores, called) async for called in under_way(app.stores)}


async def test_a_callee_is_wanted_until_its_caller_ends(home: Home) -> None:
    async with home.open() as app:
        app.runs.on_stop = None
        await deploy(app, "waits", plan({"ask": asks("inner")}))
        found = await run(app, "waits")
        (inner,) = [row.session_id for row in (await sessions.list_sessions(app)).sessions]
        assert await unwanted(app) == {inner: None}
        await app.runs.cancel(RunId(found.run_id or ""), reason="enough")
        assert await unwanted(app) == {inner: f"The run {found.run_id}, which called this, was cancelled."}


async def test_a_run_is_the_callee_of_a_session_as_long_as_that_waits(home: Home) -> None:
    async with home.open() as app:
        app.runs.on_stop = None
        await deploy(app, "waits", plan({"ask": asks("inner")}))
        user = (await sessions.start_session(app, agent="user", prompt="go")).session_id or ""
        await sessions.resume_session(app, session_id=user)
        (called,) = [row.run_id for row in (await runs.list_runs(app)).runs]
        assert set((await unwanted(app)).values()) == {None}
        await app.sessions.end(SessionId(user), {"code": "cancelled", "message": "enough"})
        assert (await unwanted(app))[called] == f"The session {user}, which called this, has ended."


async def test_a_run_whose_call_was_answered_in_its_place_is_wanted_by_nobody(home: Home) -> None:
    """Also before the session takes that answer: who answered may have died before the run was ended."""
    async with home.open() as app:
        await deploy(app, "waits", plan({"ask": asks("inner")}))
        user = (await sessions.start_session(app, agent="user", prompt="go")).session_id or ""
        told = await sessions.resume_session(app, session_id=user)
        (called,) = [row.run_id for row in (await runs.list_runs(app)).runs]
        said = delivery_of(text_result("by hand"), channel="cli", principal="local", now=app.clock.now())
        await app.stores.continuations.deliver(told.pending_calls[0].token, said, principal=None, now=app.clock.now())
        assert (await unwanted(app))[called] == f"The session {user}, which called this, does not wait for it any more."
        assert app.callees is not None
        await app.callees.ending.all_callees()
        assert [row.status for row in (await runs.list_runs(app)).runs] == ["cancelled"]


async def test_a_run_that_somebody_started_in_the_name_of_a_call_is_nobodys_callee(home: Home) -> None:
    """An idempotency key is anybody's to choose: the caller has to be one that can call the deployment."""
    async with home.open() as app:
        app.runs.on_stop = None
        await deploy(app, "waits", plan({"ask": asks("inner")}))
        await deploy(app, "own", plan({"ask": asks("inner")}))
        found = await run(app, "waits")
        await start_named(app, "own", f"{found.run_id}:c1")
        gone = "run_00000000000000000000000000000000000A"
        await start_named(app, "own", f"{gone}:c1")
        await app.runs.cancel(RunId(found.run_id or ""), reason=None)
        found_unwanted = await unwanted(app)
        assert [one for one, why in found_unwanted.items() if why is not None and one.startswith("run_")] == []


async def test_a_session_that_its_user_went_on_with_is_nobodys_callee(home: Home) -> None:
    home.agent("inner", saying("done"), calling(("shout", {"text": "x"})), tools=("ops.shout",), rules={"*": DEFER})
    async with home.open() as app:
        await deploy(app, "waits", plan({"ask": asks("inner")}))
        assert (await run(app, "waits")).status == "completed"
        (row,) = (await sessions.list_sessions(app)).sessions
        shown = await sessions.inspect_session(app, session_id=row.session_id)
        assert shown.parent is not None
        shown = await sessions.resume_session(app, session_id=row.session_id, prompt="And?")
        assert (shown.status, shown.parent) == ("waiting", None)
        assert await unwanted(app) == {}


async def test_a_session_whose_model_failed_waits_for_nobody_and_keeps_its_reason(home: Home) -> None:
    home.agent("inner", calling(("shout", {"text": "x"})), tools=("ops.shout",))
    async with home.open() as app:
        await deploy(app, "waits", plan({"ask": asks("inner")}))
        assert (await run(app, "waits")).status == "failed"
        assert await unwanted(app) == {}
        (row,) = (await sessions.list_sessions(app)).sessions
        assert (row.status, row.error_code) == ("ready", "model_unusable")
