"""A small MCP server to be an upstream in tests.

Its tools do what upstreams do to their clients: die, hang, fail, answer late, or tell what they were sent.
"""

import argparse
import os
import socket
import sys
from pathlib import Path
from typing import Any

import anyio
import uvicorn
from mcp import MCPError
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import METHOD_NOT_FOUND, CallToolResult, ImageContent, TextContent, ToolAnnotations

parser = argparse.ArgumentParser()
parser.add_argument("--http", type=int, metavar="FD", help="serve HTTP on this listening socket, not stdio")
parser.add_argument("--calls", type=Path, default=None, help="where calls are noted, one a line")
parser.add_argument("--stderr", default="", help="what to write there at start")
parser.add_argument("--legacy", action="store_true", help="know nothing of the modern protocol")
options = parser.parse_args()


async def without_discovery(ctx: Any, call_next: Any) -> Any:
    if ctx.method == "server/discover":
        raise MCPError(METHOD_NOT_FOUND, "Method not found")
    return await call_next(ctx)


server = MCPServer("upstream", log_level="CRITICAL", middleware=[without_discovery] if options.legacy else [])


def note(text: str) -> None:
    if options.calls is not None:
        with options.calls.open("a") as calls:
            calls.write(f"{text}\n")


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def add(a: int, b: int) -> dict[str, int]:
    """Add two numbers."""
    note(f"add {a} {b}")
    return {"sum": a + b}


@server.tool(structured_output=False)
def say(text: str) -> str:
    note("say")
    return text


@server.tool(structured_output=False)
def picture() -> CallToolResult:
    return CallToolResult(
        content=[TextContent(type="text", text="here"), ImageContent(type="image", data="AAAA", mime_type="image/png")]
    )


@server.tool()
def refuse(reason: str) -> dict[str, int]:
    raise ToolError(reason)


@server.tool()
def die() -> None:
    note("die")
    os._exit(3)


@server.tool()
async def hang() -> None:
    note("hang begins")
    try:
        await anyio.sleep_forever()
    finally:
        note("hang ends")


@server.tool(structured_output=False)
def environment(name: str) -> str:
    return os.environ.get(name, "unset")


@server.tool(structured_output=False)
def header(name: str, ctx: Context[Any, Any]) -> str:
    return str((ctx.headers or {}).get(name, "absent"))


@server.tool(structured_output=False)
def odd(ctx: Context[Any, Any]) -> CallToolResult:
    return CallToolResult(content=[], structured_content={"n": float("nan")})


if options.stderr:
    sys.stderr.write(f"{options.stderr}\n")
if options.http is None:
    server.run()
else:
    listening = socket.socket(fileno=options.http)
    config = uvicorn.Config(server.streamable_http_app(), log_level="critical")
    anyio.run(uvicorn.Server(config).serve, [listening])
