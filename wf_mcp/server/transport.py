"""How the server is reached: stdio, or HTTP on this machine.

On stdio nothing but MCP may ever be written to stdout, whatever a user's Python module or a child process prints.
"""

import os
import sys
from dataclasses import dataclass
from io import TextIOWrapper
from typing import Any, cast

from mcp.server.mcpserver import MCPServer

from wf_mcp.errors import InvalidArgument

LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True)
class Address:
    """Where HTTP is served."""

    host: str = "127.0.0.1"
    port: int = 8000

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def read_address(text: str) -> Address:
    """Read HOST:PORT, HOST or PORT.

    Raises:
        InvalidArgument: it is no address, or one that other machines can reach.
    """
    host, port = ("", text) if text.isdigit() else _split(text)
    default = Address()
    host = host or default.host
    if host not in LOOPBACK:
        raise InvalidArgument(
            f"{host} can be reached from other machines, and who may use the server cannot be configured yet.",
            hint=f"Serve on {default} and reach it through a tunnel that authenticates.",
        )
    if port and not (port.isdigit() and 0 < int(port) < 65536):
        raise InvalidArgument(f"{port!r} is no port.", hint=f"Write HOST:PORT, as in {default}.")
    return Address(host, int(port) if port else default.port)


def serve_stdio(server: MCPServer[Any]) -> None:
    """Serve the client on the other end of stdin and stdout until it goes away.

    The SDK's transport takes fd 1 for itself and points it at stderr while it serves: no print reaches the wire.
    """
    # A print is seen when it happens, not when a buffer is full.
    cast("TextIOWrapper", sys.stdout).reconfigure(line_buffering=True)
    try:
        server.run("stdio")
    finally:
        # The transport has given fd 1 back; what a module left in the buffer of sys.stdout is flushed after this.
        os.dup2(sys.stderr.fileno(), 1)


def serve_http(server: MCPServer[Any], address: Address) -> None:
    """Serve Streamable HTTP at /mcp until interrupted. Where that is stands on stderr."""
    sys.stderr.write(f"Serving MCP at http://{address}/mcp\n")
    server.run("streamable-http", host=address.host, port=address.port)


def _split(text: str) -> tuple[str, str]:
    if text.startswith("["):
        host, _, port = text[1:].partition("]")
        return host, port.removeprefix(":")
    host, _, port = text.partition(":") if text.count(":") == 1 else (text, "", "")
    return host, port
