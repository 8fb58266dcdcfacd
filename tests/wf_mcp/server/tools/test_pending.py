"""The tools for what waits, through a client."""

from pathlib import Path
from typing import Any

import pytest

from tests.wf_mcp.desk import CONFIG, desk
from tests.wf_mcp.server.connected import ASK, Era, connected

pytestmark = pytest.mark.anyio

OPS = """
from typing import Any
from wf_core import capability

@capability()
def look() -> Any:
    return 1
"""


async def test_open_questions_are_listed_until_they_are_answered(tmp_path: Path) -> None:
    async with connected(tmp_path) as server:
        run_id = (await server.call("run_deployment", deployment_id=await server.deploy(ASK)))["run_id"]
        waiting = await server.call("list_pending")
        await server.call("resume_run", run_id=run_id, resume_payload={"answer": "well"})
        over = await server.call("list_pending", run_id=run_id)

    assert [(item["run_id"], item["interrupt"]["kind"]) for item in waiting["pending"]] == [(run_id, "question")]
    assert over == {"pending": [], "next_cursor": None}


async def test_what_runs_and_sessions_wait_for_is_one_list(tmp_path: Path, era: Era) -> None:
    desk(tmp_path)
    async with connected(tmp_path, era, config=CONFIG) as server:
        run_id = (await server.call("run_deployment", deployment_id=await server.deploy(ASK)))["run_id"]
        started = await server.call("start_session", agent="helper", prompt="Go.")
        told = await server.call("resume_session", session_id=started["session_id"])
        first = await server.call("list_pending", limit=2)
        rest = await server.call("list_pending", limit=2, cursor=first["next_cursor"])
        alone = await server.call("list_pending", session_id=told["session_id"])
        refused = await server.refuse("list_pending", session_id=told["session_id"], run_id=run_id)

    items = [*first["pending"], *rest["pending"]]
    assert [(item["type"], item["run_id"]) for item in items] == [("interrupt", run_id), ("call", None), ("call", None)]
    assert {item["call"]["token"] for item in items[1:]} == {call["token"] for call in told["pending_calls"]}
    assert [item["call"] for item in alone["pending"]] == told["pending_calls"]
    assert (rest["next_cursor"], refused["code"]) == (None, "invalid_argument")


async def test_a_call_of_a_session_is_answered_once(tmp_path: Path, era: Era) -> None:
    desk(tmp_path)
    async with connected(tmp_path, era, config=CONFIG) as server:
        started = await server.call("start_session", agent="helper", prompt="Go.")
        told = await server.call("resume_session", session_id=started["session_id"])
        one, other = (call["token"] for call in told["pending_calls"])
        left = await server.call("complete_call", token=one, result={"any": ["JSON", 1]})
        again = await server.refuse("complete_call", token=one, result="second")
        await server.call("fail_call", token=other, error="no line")
    assert ([call["token"] for call in left["pending_calls"]], left["session_id"]) == ([other], told["session_id"])
    assert again["code"] == "call_already_completed"


async def test_null_is_a_result_of_a_call(tmp_path: Path) -> None:
    (tmp_path / "ops.py").write_text(OPS, encoding="utf-8")
    plan: dict[str, Any] = {
        "name": "looks",
        "state_schema": {"type": "object", "properties": {"seen": {"default": "none"}}},
        "output_schema": {"type": "object", "properties": {"seen": {}}},
        "start": "look",
        "steps": {
            "look": {"type": "node", "use": "ops.look", "output": {"state.seen": "."}, "routes": {"ok": "__end__"}}
        },
    }
    later: dict[str, Any] = {"default": {"tag": "defer", "reason": "by hand"}, "rules": []}
    config = {"pythonSources": {"ops": {"module": "ops", "path": "."}}}
    async with connected(tmp_path, config=config) as server:
        await server.call("save_artifact", artifact_id="looks", plan=plan)
        await server.call("create_deployment", deployment_id="looks", artifact_id="looks", call_policy=later)
        told = await server.call("run_deployment", deployment_id="looks")
        ended = await server.call("complete_call", token=told["pending_calls"][0]["token"], result=None)
    assert (ended["status"], ended["output"]) == ("completed", {"seen": None})
