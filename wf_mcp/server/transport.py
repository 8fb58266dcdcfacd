"""How the server is reached: stdio, or HTTP on this machine.

On stdio nothing but MCP may ever be written to stdout, whatever a user's Python module or a child process prints.
"""

import os
import socket
import sys
from dataclasses import dataclass
from io import TextIOWrapper
from typing import Any, Final, cast

import anyio
from mcp.server.mcpserver import MCPServer
from starlette.types import ASGIApp

from wf_mcp.errors import InvalidArgument
from wf_mcp.server.bodies import CheckedBodies, longest_body
from wf_mcp.server.ending import end_in_time, until_told
from wf_mcp.server.workflow_server import WorkflowServer

LOOPBACK = ("127.0.0.1", "localhost", "::1")

_HTTP_SECONDS: Final = 3
"""How long requests that are being answered hold up the end of the program."""


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
    """Serve the client on the other end of stdin and stdout until it goes away, or a signal ends the program.

    The transport takes fd 1 for itself and points it at stderr while it serves: no print reaches the wire.

    Raises:
        InvalidArgument: stdin or stdout is closed.
    """
    stdin, stdout = cast("TextIOWrapper | None", sys.stdin), cast("TextIOWrapper | None", sys.stdout)
    if stdin is None or stdout is None:
        raise InvalidArgument("stdin or stdout is closed.", hint="An MCP client starts wf-mcp with a pipe to each.")
    # A print is seen when it happens, not when a buffer is full.
    stdout.reconfigure(line_buffering=True)
    try:
        status = anyio.run(until_told, server.run_stdio_async, end_in_time)
    finally:
        # The transport has given fd 1 back; what a module left in the buffer of sys.stdout is flushed after this.
        os.dup2(sys.stderr.fileno(), 1)
    if status is not None:
        sys.exit(status)


def serve_http(server: WorkflowServer, address: Address) -> None:
    """Serve Streamable HTTP at /mcp until a signal ends the program. Where that is stands on stderr.

    Raises:
        InvalidArgument: the address is taken, or none of this machine.
    """
    import uvicorn  # noqa: PLC0415 - takes a while to load, and stdio needs none of it

    with _listen(address) as listening:
        sys.stderr.write(f"Serving MCP at http://{address}/mcp\n")
        app = http_app(server, address.host)
        config = uvicorn.Config(
            app, log_level=server.settings.log_level.lower(), timeout_graceful_shutdown=_HTTP_SECONDS
        )
        uvicorn.Server(config).run(sockets=[listening])


def http_app(server: WorkflowServer, host: str) -> ASGIApp:
    """Make the application that serves HTTP."""
    longest = longest_body(server.max_bytes)
    return CheckedBodies(
        server.streamable_http_app(host=host, max_request_body_size=longest), max_bytes=server.max_bytes
    )


def _listen(address: Address) -> socket.socket:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    try:
        return socket.create_server((address.host, address.port), family=family)
    except OSError as error:
        raise InvalidArgument(
            f"{address} cannot be served: {os.strerror(error.errno or 0)}.", hint="Name another port with --http PORT."
        ) from error


def _split(text: str) -> tuple[str, str]:
    if text.startswith("["):
        host, _, port = text[1:].partition("]")
        return host, port.removeprefix(":")
    host, _, port = text.partition(":") if text.count(":") == 1 else (text, "", "")
    return host, port
