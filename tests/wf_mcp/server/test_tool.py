"""What every tool has in common: strict arguments, structured answers, structured errors."""

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from mcp.types import TextContent

from tests.wf_mcp.server.connected import Era, connected
from wf_mcp.operations import runs

pytestmark = pytest.mark.anyio


async def test_an_answer_comes_as_structure_and_as_the_same_json_in_text(tmp_path: Path, era: Era) -> None:
    """Many hosts show the model only the text."""
    async with connected(tmp_path, era) as server:
        result = await server.client.call_tool("list_runs", {})

    assert result.structured_content == {"runs": [], "next_cursor": None, "diagnostics": []}
    (content,) = result.content
    assert isinstance(content, TextContent)
    assert json.loads(content.text) == result.structured_content


@pytest.mark.parametrize(
    ("tool", "arguments", "named"),
    [
        ("run_deployment", {}, "`deployment_id` is missing"),
        ("inspect_run", {"run_id": 5}, "`run_id` must be text"),
        ("inspect_run", {"run_id": "x", "wait_second": 1}, "did you mean `wait_seconds`?"),
        ("run_deployment", {"deployment_id": "x", "wait_seconds": 46}, "`wait_seconds` must be at most 45"),
        ("list_runs", {"status": "done"}, "`status` must be one of 'running'"),
        ("save_artifact", {"artifact_id": "x", "plan": [1]}, "`plan` must be an object, not a list"),
        (
            "create_deployment",
            {"deployment_id": "x", "artifact_id": "y", "bindings": {"a": 1}},
            "at ['a'] must be text",
        ),
    ],
)
async def test_wrong_arguments_are_a_tool_error_with_a_code(
    tmp_path: Path, era: Era, tool: str, arguments: dict[str, Any], named: str
) -> None:
    """Not a fault of the protocol, and not plain text only."""
    async with connected(tmp_path, era) as server:
        error = await server.refuse(tool, **arguments)

    assert error["code"] == "invalid_argument"
    assert named in error["message"]


async def test_an_unexpected_exception_is_logged_and_shows_nothing_of_itself(
    tmp_path: Path, era: Era, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def explode(*_: object, **__: object) -> None:
        raise RuntimeError("the key is hunter2")

    monkeypatch.setattr(runs, "list_runs", explode)
    with caplog.at_level(logging.ERROR):
        async with connected(tmp_path, era) as server:
            error = await server.refuse("list_runs")

    assert error["code"] == "internal_error"
    assert "hunter2" not in json.dumps(error)
    assert "hunter2" in caplog.text
