"""A session as it is shown."""

from pathlib import Path
from typing import Any

import pytest

from tests.wf_mcp.execution.sessions.workplace import agent, calling, resumed, saying, started
from tests.wf_mcp.scripted import ScriptedSource, opened
from wf_artifacts.stores import open_stores

pytestmark = pytest.mark.anyio

RULES: dict[str, Any] = {
    "echo": {"tag": "defer", "reason": "external worker", "expiresSeconds": 60},
    "ask": {"tag": "defer", "reason": "it writes", "approval": True},
}


async def test_what_waits_is_shown_the_same_after_a_restart(tmp_path: Path) -> None:
    """A21, B26: calls that look the same have tokens of their own."""
    ops = ScriptedSource(acts=dict.fromkeys(["echo", "ask"], ScriptedSource().acts["echo"]))
    address = f"file://{tmp_path / 'home'}"
    async with opened(ops, stores=open_stores(address)) as app:
        session = await started(app, agent(tmp_path, [calling("echo", "ask", "echo")], "echo", "ask", rules=RULES))
        before = (await resumed(app, session)).pending
    async with opened(ops, stores=open_stores(address)) as app:
        assert (await app.sessions.view(session)).pending == before
    assert len({call.token for call in before}) == 3
    assert [(call.kind, call.rule, call.reason) for call in before] == [
        ("deferred", "echo", "external worker"),
        ("approval", "ask", "it writes"),
        ("deferred", "echo", "external worker"),
    ]
    assert [None if call.expires_at is None else (call.expires_at - call.since).seconds for call in before] == [
        60,
        None,
        60,
    ]


async def test_what_the_model_cost_is_summed_up(tmp_path: Path) -> None:
    spent = {"usage": {"inputTokens": 10, "outputTokens": 2}}
    async with opened(ScriptedSource()) as app:
        session = await started(app, agent(tmp_path, [calling("echo") | spent, saying("Done.") | spent], "echo"))
        usage = (await resumed(app, session)).usage
    assert (usage.input_tokens, usage.output_tokens) == (20, 4)
