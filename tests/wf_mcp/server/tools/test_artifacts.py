"""Tools for plans and artifacts, through a client."""

from pathlib import Path

import pytest

from tests.wf_mcp.server.connected import ASK, connected

pytestmark = pytest.mark.anyio


async def test_a_plan_is_validated_saved_shown_listed_and_deleted(tmp_path: Path) -> None:
    async with connected(tmp_path) as server:
        verdict = await server.call("validate_workflow", plan=ASK)
        saved = await server.call("save_artifact", artifact_id="ask", plan=ASK, description="asks")
        shown = await server.call("inspect_artifact", artifact_id="ask")
        listed = await server.call("list_artifacts")
        await server.call("delete_artifact", artifact_id="ask", version=1)
        gone = await server.refuse("inspect_artifact", artifact_id="ask")

    assert verdict == {"valid": True, "issues": []}
    assert (saved["version"], saved["required_capabilities"]) == (1, ["wf.std.constant"])
    assert (shown["plan"], shown["description"]) == (ASK, "asks")
    assert [row["artifact_id"] for row in listed["artifacts"]] == ["ask"]
    assert gone["code"] == "artifact_not_found"


async def test_a_plan_that_is_not_valid_is_not_saved_and_every_issue_is_named(tmp_path: Path) -> None:
    async with connected(tmp_path) as server:
        error = await server.refuse("save_artifact", artifact_id="ask", plan={"name": "x", "stepz": {}})
        listed = await server.call("list_artifacts")

    assert error["code"] == "invalid_plan"
    assert {issue["code"] for issue in error["details"]["issues"]} >= {"unknown_key", "missing_key"}
    assert listed["artifacts"] == []
