"""What the server adds to the SDK's."""

from pathlib import Path

import pytest

from tests.wf_mcp.server.connected import Era, connected

pytestmark = pytest.mark.anyio


async def test_an_unknown_tool_is_an_error_that_names_the_nearest(tmp_path: Path, era: Era) -> None:
    async with connected(tmp_path, era) as server:
        error = await server.refuse("run_deploymnt", deployment_id="x")

    assert error["code"] == "invalid_argument"
    assert error["hint"].startswith("Did you mean run_deployment")
