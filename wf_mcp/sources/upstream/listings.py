"""A server's tools as they are read one by one, so that one that is no tool costs only itself.

The SDK reads a listing whole or not at all. Here a tool that it would not read is replaced by one without a schema that
bears its name and what is wrong with it; `tools` offers none of these.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Self, cast

from mcp.client._transport import TransportStreams
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCResponse, Tool
from mcp_types.methods import validate_server_result
from pydantic import ValidationError

from wf_core.jsonvalue import place

FAULT = "wf-mcp/fault"
"""Where a tool that stands for one that cannot be read says why, in its `_meta`."""
NAMELESS = "a tool without a name"

_TOOLS_LIST = "tools/list"

Version = Callable[[], str | None]
"""Gives the version of the protocol that is spoken, None before that is settled."""


@asynccontextmanager
async def tool_by_tool(
    transport: AbstractAsyncContextManager[TransportStreams], version: Version
) -> AsyncGenerator[TransportStreams]:
    """Speak over `transport`, where every listing of tools can be read."""
    async with transport as (reading, writing):
        yield cast("TransportStreams", (_Reading(reading, version), writing))


def fault_of(tool: Tool) -> str | None:
    """Say what is wrong with the tool that this one stands for. None of a tool that is one."""
    fault = (tool.meta or {}).get(FAULT)
    return fault if isinstance(fault, str) else None


class _Reading:
    """A stream of messages, as the SDK reads it."""

    def __init__(self, stream: Any, version: Version) -> None:
        self._stream = stream
        self._version = version

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        return self._readable(await self._stream.__anext__())

    async def receive(self) -> SessionMessage | Exception:
        return self._readable(await self._stream.receive())

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> bool | None:
        return await self._stream.__aexit__(*error)

    def _readable(self, item: SessionMessage | Exception) -> SessionMessage | Exception:
        version = self._version()
        if version is not None and isinstance(item, SessionMessage) and isinstance(item.message, JSONRPCResponse):
            item.message.result = _tool_by_tool(item.message.result, version)
        return item


def _tool_by_tool(result: dict[str, Any], version: str) -> dict[str, Any]:
    """Give a result as it is, or, of a listing that cannot be read, one that can be."""
    tools: object = result.get("tools")
    if not isinstance(tools, list) or _fault(result, version) is None:
        return result
    return {**result, "tools": [_readable(tool, result, version) for tool in cast("list[Any]", tools)]}


def _readable(tool: object, listing: dict[str, Any], version: str) -> object:
    """Give a tool as it is, or what stands for it; `listing` is what it is listed in."""
    fault = _fault({**listing, "tools": [tool]}, version)
    return tool if fault is None else _stand_in(tool, fault)


def _fault(listing: dict[str, Any], version: str) -> str | None:
    """Say what is wrong with the first tool that the SDK would not read. Anything else it may say itself."""
    try:
        validate_server_result(_TOOLS_LIST, version, listing)
    except ValidationError as error:
        for fault in error.errors(include_url=False, include_input=False):
            if fault["loc"][:1] == ("tools",) and len(fault["loc"]) > 1:
                return f"{place('tool', fault['loc'][2:])}: {fault['msg']}"
    except (KeyError, ValueError):
        pass  # a version of which the SDK knows no listings
    return None


def _stand_in(tool: object, fault: str) -> dict[str, Any]:
    name: object = cast("dict[str, Any]", tool).get("name") if isinstance(tool, dict) else None
    shown = name if isinstance(name, str) else NAMELESS
    return {"name": shown, "inputSchema": {"type": "object"}, "_meta": {FAULT: fault}}
