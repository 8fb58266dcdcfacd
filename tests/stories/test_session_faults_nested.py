"""Faults of section A in agents that call agents: a stop far below is lost, repeated, or never answered.

Each test is named after a fault that users of other programs reported; its docstring has the number in our list and the
address.
"""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.stories.desk import APPROVAL, SUMMARY, Desk, resume, tokens
from tests.stories.workplace import Server

pytestmark = pytest.mark.anyio

DEPTH = 4


def nest(desk: Desk) -> None:
    """Let each of four agents note its call and call the next one; the last notes, and asks for an approval."""
    agents: dict[str, Any] = {}
    for level in range(1, DEPTH + 1):
        below: Any = {"name": f"level{level + 1}", "arguments": {"prompt": "Go."}}
        last: Any = {"name": "ask", "arguments": {}}
        calls = [{"name": "write", "arguments": {"what": str(level)}}, below if level < DEPTH else last]
        desk.place.write(f"level{level}.json", json.dumps({"answers": [{"toolCalls": calls}, SUMMARY]}))
        agent = {
            "slug": f"level{level}",
            "model": f"scripted:level{level}.json",
            "tools": ["tools.*"] + ([f"agents.level{level + 1}"] if level < DEPTH else []),
            "toolCallPolicyConfig": {"rules": [{"tool": "ask", "disposition": APPROVAL}]},
        }
        desk.place.write(f"level{level}.agent.json", json.dumps(agent))
        agents[f"level{level}"] = {"file": f"level{level}.agent.json"}
    desk.configure(agents=agents)


async def waiting_below(server: Server) -> str:
    """Wait until the last agent asks, and give the token of its call."""
    with anyio.fail_after(30):
        while True:
            listed = (await server.call("list_pending", limit=100))["pending"]
            found = [item["call"]["token"] for item in listed if item["call"]["capability"] == "tools.ask"]
            if found:
                return found[0]


async def test_an_approval_four_agents_down_is_asked_once_and_lets_all_of_them_go_on(tmp_path: Path) -> None:
    """A13, https://github.com/openai/openai-agents-python/pull/2500: after a restart the stop comes again, for ever.

    A15, https://github.com/openai/openai-agents-python/pull/4414: two levels down it is never applied.
    A3, https://github.com/langchain-ai/langgraph/issues/6792: what was done beside the stop is done again.
    """
    desk = Desk(tmp_path, [])
    nest(desk)
    async with desk.server() as server:
        started = await server.call("start_session", agent="level1", prompt="Go.")
        waiting = await resume(server, started["session_id"])
        assert (waiting["status"], [call["awaits"] for call in waiting["pending_calls"]]) == ("waiting", ["callee"])
        token = await waiting_below(server)
        server.kill()
    async with desk.server() as server:
        assert await waiting_below(server) == token
        told = await resume(server, started["session_id"])
        assert (told["status"], tokens(told)) == ("waiting", tokens(waiting))
        desk.wf("session", "approve", token)
        with anyio.fail_after(30):
            while (told := await resume(server, started["session_id"]))["status"] != "answered":
                await anyio.lowlevel.checkpoint()
        sessions = (await server.call("list_sessions"))["sessions"]
    assert [session["status"] for session in sessions] == ["answered"] * DEPTH
    assert "write 4 done" in told["answer"]
    assert "ask done" in told["answer"]
    assert desk.noted == ["write 1", "write 2", "write 3", "write 4", "ask"]
