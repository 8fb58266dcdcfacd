"""Tools for capabilities, through a client."""

from pathlib import Path

import pytest

from tests.wf_mcp.server.connected import connected
from wf_core.jsonvalue import size
from wf_mcp.server.bounds import MOST_BYTES

pytestmark = pytest.mark.anyio

MANY = """
from wf_core import capability

for number in range(120):
    def tool(a: str = "") -> list[int]:
        return list(range(20_000))
    tool.__name__ = f"tool_{number:03}"
    tool.__doc__ = f"Does {number}. " + "Words about it. " * 40
    globals()[tool.__name__] = capability(read_only=True)(tool)
"""


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


async def test_a_page_that_is_too_long_ends_early_and_the_next_goes_on(tmp_path: Path) -> None:
    (tmp_path / "many.py").write_text(MANY, encoding="utf-8")
    found: list[str] = []
    pages, cursor = 0, None
    async with connected(tmp_path, config={"pythonSources": {"many": {"module": "many"}}}) as server:
        while cursor is not None or not pages:
            page = await server.call("list_capabilities", source="many", limit=100, cursor=cursor)
            assert size(page) <= MOST_BYTES
            found += [row["name"] for row in page["capabilities"]]
            pages, cursor = pages + 1, page["next_cursor"]
    assert found == [f"many.tool_{number:03}" for number in range(120)]
    assert 3 <= pages <= 6


async def test_of_a_result_that_is_too_long_it_is_said_that_the_rest_is_kept_nowhere(tmp_path: Path) -> None:
    (tmp_path / "many.py").write_text(MANY, encoding="utf-8")
    async with connected(tmp_path, config={"pythonSources": {"many": {"module": "many"}}}) as server:
        answer = await server.call("call_capability", name="many.tool_000")
    assert answer["output"]["result"]["bytes"] == size(list(range(20_000)))
    assert "kept nowhere" in answer["diagnostics"][0]["hint"]
    assert size(answer) <= MOST_BYTES
