"""Starting, stepping, resuming and answering sessions."""

from pathlib import Path
from typing import Any

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
    told,
)
from tests.wf_mcp.scripted import ScriptedSource, opened

pytestmark = pytest.mark.anyio

LATER: dict[str, Any] = {"tag": "defer", "reason": "external worker"}


async def test_a_session_waits_for_deferred_calls_and_gives_the_model_all_results_in_call_order(tmp_path: Path) -> None:
    ops = ScriptedSource(acts=dict.fromkeys(["near", "far_a", "far_b"], ScriptedSource().acts["echo"]))
    script = [calling("far_a", ("near", {"n": 1}), "far_b"), saying("Done: {{results}}")]
    async with opened(ops) as app:
        session = await started(app, agent(tmp_path, script, "near", "far_a", "far_b", rules={"far_*": LATER}))
        waiting = await resumed(app, session)
        assert waiting.record.status == "waiting"
        assert [call.name for call in waiting.pending] == ["far_a", "far_b"]
        token = tokens(waiting)
        await delivered(app, token["far_b"], "from b")
        await delivered(app, token["far_a"], {"type": "json", "content": 7})
        ended = await resumed(app, session)
    assert ended.record.status == "answered"
    assert told(ended) == ["far_a: 7", 'near: {"n":1}', "far_b: from b"]
    assert [name for name, _, _ in ops.calls] == ["near"]


async def test_a_step_asks_the_model_once_or_makes_the_calls_of_a_turn(tmp_path: Path) -> None:
    async with opened(ScriptedSource()) as app:
        session = await started(app, agent(tmp_path, [calling("echo", "echo"), saying("Done.")], "echo"))
        assert [len((await stepped(app, session)).session.turns) for _ in range(3)] == [3, 3, 4]
        assert (await app.sessions.view(session)).record.answer == "Done."
