"""A server's tools as they are read one by one."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCResponse

from tests.wf_mcp.sources.upstream.conftest import Open, raw_server
from wf_core import CallContext
from wf_mcp.sources.upstream.listings import NAMELESS, tool_by_tool

pytestmark = pytest.mark.anyio

GOOD = {"name": "good", "inputSchema": {"type": "object"}}


async def read(result: dict[str, Any], version: str | None = "2025-11-25") -> Any:
    """Give a result as the SDK would read it from a server that sent this one."""

    class Stream:
        async def receive(self) -> SessionMessage:
            return SessionMessage(JSONRPCResponse(jsonrpc="2.0", id=1, result=result))

    @asynccontextmanager
    async def transport() -> AsyncGenerator[Any]:
        yield Stream(), None

    async with tool_by_tool(transport(), lambda: version) as (reading, _):
        message = await reading.receive()
    assert isinstance(message, SessionMessage)
    assert isinstance(message.message, JSONRPCResponse)
    return message.message.result


@pytest.mark.parametrize(
    ("tool", "name", "fault"),
    [
        ({"name": "bad", "inputSchema": {"type": "string"}}, "bad", "tool.inputSchema.type: Input should be 'object'"),
        ({"name": "bad", "inputSchema": []}, "bad", "tool.inputSchema: Input should be"),
        ({"name": "bad"}, "bad", "tool.inputSchema: Field required"),
        ({**GOOD, "name": "bad", "annotations": 3}, "bad", "tool.annotations: Input should be"),
        ({**GOOD, "name": "bad", "outputSchema": {"type": "array"}}, "bad", "tool.outputSchema.type: "),
        ({"inputSchema": {"type": "object"}}, NAMELESS, "tool.name: Field required"),
        ({**GOOD, "name": 5}, NAMELESS, "tool.name: Input should be"),
        ("bad", NAMELESS, "tool: Input should be"),
    ],
)
async def test_a_tool_that_cannot_be_read_costs_only_itself(tool: Any, name: str, fault: str) -> None:
    read_as = await read({"tools": [GOOD, tool], "nextCursor": "x"})

    assert (read_as["tools"][0], read_as["nextCursor"]) == (GOOD, "x")
    assert read_as["tools"][1]["name"] == name
    assert read_as["tools"][1]["_meta"]["wf-mcp/fault"].startswith(fault)


@pytest.mark.parametrize("version", [None, "2025-11-25", "1999-01-01"])
@pytest.mark.parametrize("result", [{"tools": [GOOD]}, {"tools": 5}, {"content": []}])
async def test_all_else_is_read_as_it_is(result: dict[str, Any], version: str | None) -> None:
    assert await read(result, version) == result


async def test_a_source_offers_the_tools_that_are_some_and_says_which_is_none(
    open_source: Open, context: CallContext
) -> None:
    async with open_source(raw_server("odd")) as source:
        assert "odd" not in await source.capabilities()
        told = source.status().diagnostics
        [message] = [one.message for one in told if "up.odd" in one.message]
        assert message.endswith("not describe it as MCP asks: tool.inputSchema.type: Input should be 'object'.")
        assert (await source.call("echo", {"value": 1}, context)).output == {"value": 1}
