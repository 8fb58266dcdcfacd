"""The tool for what waits, through a client."""

from pathlib import Path

import pytest

from tests.wf_mcp.server.connected import ASK, connected

pytestmark = pytest.mark.anyio


async def test_open_questions_are_listed_until_they_are_answered(tmp_path: Path) -> None:
    async with connected(tmp_path) as server:
        run_id = (await server.call("run_deployment", deployment_id=await server.deploy(ASK)))["run_id"]
        waiting = await server.call("list_pending")
        await server.call("resume_run", run_id=run_id, resume_payload={"answer": "well"})
        over = await server.call("list_pending", run_id=run_id)

    assert [(item["run_id"], item["interrupt"]["kind"]) for item in waiting["pending"]] == [(run_id, "question")]
    assert over == {"pending": [], "next_cursor": None}
