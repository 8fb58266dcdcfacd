"""How a session is told in its record."""

from pathlib import Path
from typing import Any

import pytest

from tests.wf_mcp.execution.sessions.workplace import ME, agent, calling, delivered, resumed, saying, started, stepped
from tests.wf_mcp.scripted import ScriptedSource, opened
from wf_core.sessions import Parent
from wf_mcp.execution.sessions.records import at_rest, describe

pytestmark = pytest.mark.anyio

LATER: dict[str, Any] = {"tag": "defer", "reason": "external worker"}


async def test_a_record_says_where_its_session_stands_at_each_stop(tmp_path: Path) -> None:
    async with opened(ScriptedSource()) as app:
        snapshot = agent(tmp_path, [calling("echo"), saying("Done.")], "echo", rules={"echo": LATER}, max_turns=2)
        session = await started(app, snapshot)
        assert (await app.sessions.view(session)).record.status == "ready"
        calls = (await stepped(app, session)).record
        assert [(call.call_id, call.state, call.token) for call in calls.pending] == [("t2.0", "ready", None)]
        waiting = await resumed(app, session)
        (pending,) = waiting.record.pending
        assert (waiting.record.status, pending.state, pending.capability) == ("waiting", "deferred", "ops.echo")
        assert pending.token == waiting.pending[0].token
        await delivered(app, waiting.pending[0].token, "there")
        ended = (await resumed(app, session)).record
        assert (ended.status, ended.answer, ended.pending, ended.turns) == ("answered", "Done.", (), 4)


async def test_a_session_that_asked_its_model_too_often_has_failed(tmp_path: Path) -> None:
    async with opened(ScriptedSource()) as app:
        session = await started(app, agent(tmp_path, [calling("echo")] * 3, "echo", max_turns=2))
        view = await resumed(app, session)
        assert view.record.status == at_rest(view.session) == "failed"
        assert (view.record.error or {})["code"] == "max_turns"
        again = describe(view.session, view.record, now=view.record.updated_at)
        assert again == view.record


async def test_a_session_that_goes_on_after_its_end_is_nobodys_callee_any_more(tmp_path: Path) -> None:
    async with opened(ScriptedSource()) as app:
        parent = Parent("run", "run_1", "call_1")
        snapshot = agent(tmp_path, [saying("Done."), saying("More.")])
        session = (await app.sessions.create(snapshot, "Go.", principal=ME, parent=parent)).session_id
        assert (await resumed(app, session)).record.parent is not None
        assert (await resumed(app, session)).record.parent is not None
        assert (await resumed(app, session, prompt="And?")).record.parent is None
