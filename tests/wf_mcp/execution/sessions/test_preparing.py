"""Making a held session ready for what somebody wants of it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.wf_mcp.execution.sessions.workplace import agent, calling, resumed, saying, started
from tests.wf_mcp.scripted import ScriptedSource, opened
from wf_core.ids import SessionId
from wf_core.sessions import UserTurn
from wf_mcp.app import App
from wf_mcp.execution.sessions.errors import RunnerMissing, SessionBlocked
from wf_mcp.execution.sessions.held import HeldSession
from wf_mcp.execution.sessions.live import Wish
from wf_mcp.execution.sessions.loading import Sessions
from wf_mcp.execution.sessions.preparing import prepare

pytestmark = pytest.mark.anyio

LATER: dict[str, Any] = {"tag": "defer", "reason": "external worker"}


@asynccontextmanager
async def held(app: App, session_id: SessionId) -> AsyncGenerator[HeldSession]:
    """Hold a session; what was done to it must be stored at the end."""
    holding, _ = await Sessions(app.sessions.means).hold(session_id)
    try:
        yield holding
        assert holding.is_stored
    finally:
        await holding.leave()


async def test_what_is_missing_blocks_all_that_would_go_on_and_nothing_else(tmp_path: Path) -> None:
    ops = ScriptedSource()
    async with opened(ops) as app:
        waits = await started(app, agent(tmp_path / "a", [calling("echo")], "echo", rules={"echo": LATER}))
        over = await started(app, agent(tmp_path / "b", [saying("Done.")], "echo"))
        for session in (waits, over):
            await resumed(app, session)
        ops.acts = {}
        for session, wish in (
            (waits, Wish("end")),
            (waits, Wish("step")),
            (waits, Wish("isolated")),
            (over, Wish("end", "More.")),
        ):
            async with held(app, session) as one:
                with pytest.raises(SessionBlocked, match=r"ops\.echo"):
                    await prepare(one, wish, anew=False)
        for session, wish in ((waits, Wish("rest")), (over, Wish("end"))):
            async with held(app, session) as one:
                await prepare(one, wish, anew=False)


async def test_calls_to_be_isolated_need_a_runner_only_where_they_are_to_be_made(tmp_path: Path) -> None:
    async with opened(ScriptedSource()) as app:
        snapshot = agent(tmp_path, [calling("echo")], "echo", rules={"echo": {"tag": "runIsolated"}})
        session = await started(app, snapshot)
        await resumed(app, session)
        async with held(app, session) as one:
            with pytest.raises(RunnerMissing):
                await prepare(one, Wish("isolated"), anew=False)
            await prepare(one, Wish("end"), anew=False)


async def test_words_and_whether_it_goes_on_by_itself_are_stored(tmp_path: Path) -> None:
    async with opened() as app:
        session = await started(app, agent(tmp_path, [saying("One."), saying("Two.")]))
        await resumed(app, session)
        async with held(app, session) as one:
            await prepare(one, Wish("end", "More.", auto=True), anew=False)
        stored = await app.stores.sessions.load_record(session)
        assert (stored.status, stored.auto, stored.turns) == ("running", True, 3)
        last = one.session.turns[-1]
        assert isinstance(last, UserTurn)
        assert last.query == "More."


async def test_a_session_that_was_read_anew_gets_its_continuations_again(tmp_path: Path) -> None:
    async with opened(ScriptedSource()) as app:
        session = await started(app, agent(tmp_path, [calling("echo")], "echo", rules={"echo": LATER}))
        await resumed(app, session)
        await app.stores.continuations.delete_of(session)
        for anew, count in ((False, 0), (True, 1)):
            async with held(app, session) as one:
                await prepare(one, Wish("rest"), anew=anew)
            assert len(await app.stores.continuations.of_session(session, now=app.clock.now())) == count
