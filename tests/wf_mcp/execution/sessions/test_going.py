"""Which sessions at rest go on by themselves."""

import logging
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.wf_mcp.execution.sessions.workplace import (
    agent,
    calling,
    delivered,
    resumed,
    saying,
    started,
    stepped,
    tokens,
)
from tests.wf_mcp.scripted import ScriptedSource, opened

pytestmark = pytest.mark.anyio

LATER: dict[str, Any] = {"tag": "defer", "reason": "external worker"}


async def test_a_session_that_was_stepped_is_left_to_whoever_steps_it(tmp_path: Path) -> None:
    async with opened(ScriptedSource()) as app:
        app.sessions.going.keeping = True
        session = await started(app, agent(tmp_path, [calling("echo"), saying("Done.")], "echo"), auto=True)
        await stepped(app, session)
        await anyio.wait_all_tasks_blocked()
        assert (await app.sessions.view(session)).record.status == "ready"


async def test_a_session_that_cannot_go_on_is_named_in_the_log_once(tmp_path: Path, caplog: Any) -> None:
    ops = ScriptedSource()
    async with opened(ops) as app:
        app.sessions.going.keeping = True
        snapshot = agent(tmp_path, [calling("echo"), saying("Done.")], "echo", rules={"echo": LATER})
        session = await started(app, snapshot, auto=True)
        await app.sessions.wait(await app.sessions.resume(session))
        ops.acts = {}
        with caplog.at_level(logging.WARNING):
            for _ in range(3):
                await app.sessions.poke(session)
                await anyio.wait_all_tasks_blocked()
    assert caplog.text.count("is left as it is") == 1


async def test_a_session_that_does_not_get_on_with_what_was_delivered_is_left_to_rest(
    tmp_path: Path, caplog: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would be tried for ever."""
    async with opened(ScriptedSource()) as app:
        app.sessions.going.keeping = True
        snapshot = agent(tmp_path, [calling("echo"), saying("Done.")], "echo", rules={"echo": LATER})
        session = await started(app, snapshot, auto=True)
        view = await resumed(app, session)
        tries = 0
        resume = app.sessions._serve  # pyright: ignore[reportPrivateUsage]

        async def counted(*arguments: Any) -> Any:
            nonlocal tries
            tries += 1
            return await resume(*arguments)

        async def nothing(_: object) -> bool:
            return False

        monkeypatch.setattr(app.sessions, "_serve", counted)
        monkeypatch.setattr("wf_mcp.execution.sessions.mail.collect", nothing)
        with caplog.at_level(logging.WARNING):
            await delivered(app, tokens(view)["echo"], "here")
            await anyio.wait_all_tasks_blocked()
        assert tries == 2
        assert caplog.text.count("is not taken by it") == 1
