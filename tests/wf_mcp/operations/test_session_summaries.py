"""How a session is told, and what can be done next."""

from pathlib import Path

import pytest

from tests.wf_mcp.execution.sessions.workplace import agent, calling, delivered, resumed, saying, started
from tests.wf_mcp.scripted import Gate, ScriptedSource, echo, opened
from wf_artifacts.stores import open_stores
from wf_mcp.operations import session_summaries as summaries

pytestmark = pytest.mark.anyio


async def test_a_session_that_answered_while_a_call_is_in_doubt_says_who_may_tell(tmp_path: Path) -> None:
    stores, gate = open_stores("memory://"), Gate()
    async with opened(ScriptedSource(acts={"hold": gate}), stores=stores) as app:
        session = await started(app, agent(tmp_path, [calling("hold"), *[saying("Done.")] * 2], "hold"))
        await app.sessions.resume(session)
        await gate.entered.wait()
    async with opened(ScriptedSource(acts={"hold": echo}), stores=stores) as app:
        told = await summaries.detail(app, await resumed(app, session))
        (call,) = told.pending_calls
        assert (told.status, told.answer, call.state) == ("answered", "Done.", "in_doubt")
        doubt, say = told.next_actions
        assert f"wf calls complete {call.token}" in doubt
        assert "prompt=" in say
        await delivered(app, call.token, "it did")
        told = await summaries.detail(app, await app.sessions.view(session))
        assert told.pending_calls == []
        assert told.next_actions[0] == f'resume_session(session_id="{session}") takes what was told'
        last = await summaries.detail(app, await resumed(app, session))
    assert (last.status, last.turns, len(last.next_actions)) == ("answered", 6, 1)
