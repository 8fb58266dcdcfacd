"""Resources under `wf://`."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from mcp.types import TextResourceContents

from tests.wf_mcp.server.connected import ASK, Connected, Era, connected
from wf_core.validation import read_plan
from wf_mcp.server.resources import authoring_guide, run_uri

pytestmark = pytest.mark.anyio


async def read(server: Connected, uri: str) -> Any:
    (content,) = (await server.client.read_resource(uri)).contents
    assert isinstance(content, TextResourceContents)
    return json.loads(content.text)


async def test_what_is_stored_is_read_as_the_tools_say_it(tmp_path: Path, era: Era) -> None:
    async with connected(tmp_path, era) as server:
        deployment = await server.deploy(ASK)
        run = await server.call("run_deployment", deployment_id=deployment)

        assert await read(server, run_uri(run["run_id"])) == run
        assert (await read(server, f"wf://runs/{run['run_id']}/trace/-1/10"))["entries"][0]["step_id"] == "ask"
        assert (await read(server, "wf://artifacts/ask/1"))["plan"] == ASK
        assert (await read(server, "wf://deployments/ask"))["runnable"] is True
        assert "steps" in (await read(server, "wf://schema/plan"))["properties"]


@pytest.mark.parametrize("uri", ["wf://runs/run_x", "wf://artifacts/none/1", "wf://deployments/none"])
async def test_what_is_not_there_is_an_error_of_the_protocol(tmp_path: Path, era: Era, uri: str) -> None:
    async with connected(tmp_path, era) as server:
        with pytest.raises(MCPError) as caught:
            await server.client.read_resource(uri)

    assert caught.value.code == -32602


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("runs/run_x/trace/soon/10", '`start` must be a whole number, not "soon"'),
        ("runs/run_x/trace/0/%D9%A1", "`limit` must be a whole number"),
        ("runs/run_x/trace/0/0", "`limit` is from 1 to 100, not 0"),
        ("runs/run_x/trace/0/1000", "`limit` is from 1 to 100, not 1000"),
        ("runs/run_x/trace/" + "9" * 5000 + "/1", "`start` must be a whole number"),
        ("artifacts/none/-1", ""),
        ("artifacts/a%20b/1", ""),
        ("deployments/a%20b", ""),
        ("runs/%00", ""),
    ],
)
async def test_an_address_that_is_none_is_no_fault_of_the_server(
    tmp_path: Path, era: Era, caplog: pytest.LogCaptureFixture, path: str, said: str
) -> None:
    async with connected(tmp_path, era) as server:
        with pytest.raises(MCPError) as caught:
            await server.client.read_resource(f"wf://{path}")

    assert caught.value.code == -32602
    assert said in caught.value.message
    assert "Traceback" not in caplog.text


def test_the_plan_in_the_guide_is_valid() -> None:
    example = re.search(r"```json\n(.*?)```", authoring_guide(), re.DOTALL)

    assert example is not None
    assert read_plan(json.loads(example.group(1))).issues == []
