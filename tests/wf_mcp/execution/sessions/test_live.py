"""A session that is being advanced, and those who talk to it."""

from pathlib import Path

import anyio
import pytest

from tests.wf_mcp.execution.sessions.workplace import agent, saying, started
from tests.wf_mcp.scripted import opened
from wf_mcp.execution.sessions.live import LiveSession, UserSpoke
from wf_mcp.execution.sessions.loading import Sessions

pytestmark = pytest.mark.anyio


async def live_session(folder: Path) -> LiveSession:
    async with opened() as app:
        session = await started(app, agent(folder, [saying("Hello.")]))
        held, _ = await Sessions(app.sessions.means).hold(session)
        return LiveSession(held, "end")


async def test_words_are_taken_or_else_passed_over_when_the_session_comes_to_rest(tmp_path: Path) -> None:
    live = await live_session(tmp_path)
    taken: list[bool] = []

    async def say() -> None:
        taken.append(await live.say("Hello.", ()))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(say)
        (event,) = await live.receive(seconds=5)
        assert isinstance(event, UserSpoke)
        event.take()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(say)
        await live.receive(seconds=5)
        live.end()
    await say()
    await live.wait()
    assert taken == [True, False, False]
