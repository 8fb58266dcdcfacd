"""Waiting until a session rests."""

from pathlib import Path

import anyio
import pytest

from tests.wf_mcp.execution.sessions.test_keeping import abandoned, kept, waiting_session
from tests.wf_mcp.execution.sessions.workplace import (
    agent,
    calling,
    delivered,
    result_of,
    saying,
    started,
    stepped,
    tokens,
)
from tests.wf_mcp.scripted import Gate, ScriptedSource, opened
from wf_artifacts.stores import open_stores
from wf_core.ids import SessionId
from wf_mcp.app import App
from wf_mcp.execution.sessions import keeping
from wf_mcp.execution.sessions.errors import SessionBlocked

pytestmark = pytest.mark.anyio


@pytest.fixture
def by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nobody look for sessions but who waits for them."""
    monkeypatch.setattr(keeping, "FIRST_LOOK_SECONDS", 600.0)


async def status_after(app: App, session_id: SessionId, *, seconds: float = 5) -> str:
    with anyio.fail_after(10):
        await app.sessions.wait(app.sessions.handle(session_id), seconds=seconds)
    return (await app.stores.sessions.load_record(session_id)).status


async def test_a_session_to_which_something_was_just_delivered_does_not_rest_yet(tmp_path: Path) -> None:
    """A model that waits would look again and again without a pause."""
    async with opened(ScriptedSource()) as app, kept(app):
        for number in range(5):
            session, token = await waiting_session(app, tmp_path / str(number))
            await delivered(app, token, "there")
            assert await status_after(app, session) == "answered"


@pytest.mark.usefixtures("by_itself")
async def test_what_comes_while_a_session_is_advanced_is_waited_for_too(tmp_path: Path) -> None:
    """It is put down and taken up again at once."""
    later = {"tag": "defer", "reason": "external worker"}
    gate = Gate()
    async with opened(ScriptedSource(acts={"hold": gate, **ScriptedSource().acts})) as app, kept(app):
        answers = [calling("echo", "hold"), saying("Done.")]
        session = await started(app, agent(tmp_path, answers, "echo", "hold", rules={"echo": later}), auto=True)
        await app.sessions.resume(session)
        await gate.entered.wait()
        token = tokens(await app.sessions.view(session))["echo"]
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(status_after, app, session)
            await anyio.lowlevel.checkpoint()
            gate.opened.set()
            await delivered(app, token, "there")
        assert (await app.stores.sessions.load_record(session)).status == "answered"


@pytest.mark.usefixtures("by_itself")
async def test_a_session_whose_process_is_gone_is_taken_over_by_a_server_that_is_asked_for_it(tmp_path: Path) -> None:
    stores = open_stores("memory://")
    going, resting = await abandoned(stores, tmp_path, 1), await abandoned(stores, tmp_path, 1, auto=False)
    async with opened(ScriptedSource(acts={"hold": Gate(), **ScriptedSource().acts}), stores=stores) as app, kept(app):
        assert await status_after(app, going[0]) == "answered"
        assert await status_after(app, resting[0]) == "waiting"


async def test_a_command_leaves_it_to_a_server_and_looks_at_it_until_the_time_is_over(tmp_path: Path) -> None:
    stores = open_stores("memory://")
    (left,) = await abandoned(stores, tmp_path, 1)
    async with opened(ScriptedSource(acts={"hold": Gate(), **ScriptedSource().acts}), stores=stores) as app:
        began = anyio.current_time()
        assert await status_after(app, left, seconds=0.5) == "running"
        assert anyio.current_time() - began >= 0.5


@pytest.mark.usefixtures("by_itself")
async def test_one_that_cannot_be_taken_over_is_not_waited_for(tmp_path: Path) -> None:
    stores = open_stores("memory://")
    (left,) = await abandoned(stores, tmp_path, 1)
    async with opened(stores=stores) as app, kept(app):
        with pytest.raises(SessionBlocked):
            await status_after(app, left)


@pytest.mark.usefixtures("by_itself")
async def test_a_session_to_which_another_process_delivered_goes_on_where_it_is_waited_for(tmp_path: Path) -> None:
    stores = open_stores("memory://")
    async with opened(ScriptedSource(), stores=stores) as app, kept(app):
        session, token = await waiting_session(app, tmp_path)
        now = app.clock.now()
        await stores.continuations.deliver(token, result_of("there", at=now), principal=None, now=now)
        assert await status_after(app, session) == "answered"


@pytest.mark.usefixtures("by_itself")
async def test_a_session_that_rests_is_not_waited_for(tmp_path: Path) -> None:
    async with opened(ScriptedSource()) as app, kept(app):
        began = anyio.current_time()
        waiting, _ = await waiting_session(app, tmp_path)
        new = await started(app, agent(tmp_path, [saying("Hello.")]), auto=True)
        assert [await status_after(app, one, seconds=30) for one in (waiting, new)] == ["waiting", "ready"]
        assert anyio.current_time() - began < 5


@pytest.mark.usefixtures("by_itself")
async def test_a_session_that_another_process_advances_is_waited_for(tmp_path: Path) -> None:
    gate = Gate()
    stores = open_stores("memory://")
    async with (
        opened(ScriptedSource(acts={"hold": gate, **ScriptedSource().acts}), stores=stores) as elsewhere,
        opened(ScriptedSource(acts={"hold": gate, **ScriptedSource().acts}), stores=stores) as here,
        kept(here),
    ):
        session = await started(elsewhere, agent(tmp_path, [calling("hold"), saying("Done.")], "hold"))
        await elsewhere.sessions.resume(session)
        await gate.entered.wait()
        assert await status_after(here, session, seconds=0.3) == "running"
        gate.opened.set()
        assert await status_after(here, session) == "answered"


async def test_a_stepped_session_rests_after_its_step(tmp_path: Path) -> None:
    async with opened(ScriptedSource()) as app, kept(app):
        session = await started(app, agent(tmp_path, [calling("echo"), saying("Done.")], "echo"), auto=True)
        await app.sessions.wait(await app.sessions.step(session), seconds=5)
        assert (await app.stores.sessions.load_record(session)).status == "ready"
        assert (await stepped(app, session)).record.status == "ready"
