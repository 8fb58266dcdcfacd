"""Tools for capabilities, through a client."""

from pathlib import Path

import pytest

from tests.wf_mcp.server.connected import connected

pytestmark = pytest.mark.anyio


async def test_a_capability_is_found_inspected_and_called(tmp_path: Path) -> None:
    async with connected(tmp_path) as server:
        found = await server.call("list_capabilities", query="compact json", source="wf.std")
        contract = await server.call("inspect_capability", name="wf.std.to_json")
        answer = await server.call("call_capability", name="wf.std.to_json", input={"value": [1, 2]})

    assert "wf.std.to_json" in [row["name"] for row in found["capabilities"]]
    assert contract["input_schema"]["required"] == ["value"]
    assert answer == {"outcome": "ok", "output": {"value": "[1,2]"}}


async def test_a_wrong_name_names_the_nearest(tmp_path: Path) -> None:
    async with connected(tmp_path) as server:
        error = await server.refuse("inspect_capability", name="wf.std.lenght")

    assert error["code"] == "capability_not_found"
    assert "wf.std.length" in f"{error['message']} {error['hint']}"
