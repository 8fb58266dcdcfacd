"""`wf-mcp`: the MCP server, on stdio or on HTTP.

On stdio nothing but MCP may ever be written to stdout, whatever a user's Python module or a child process prints.
"""

import argparse
import os
import sys
from pathlib import Path
from typing import cast

from wf_core.errors import WfError
from wf_core.ids import close_matches
from wf_mcp.errors import meaning
from wf_mcp.server.build import build_server
from wf_mcp.server.tools import TOOLSETS, Toolset

DEFAULT_ADDRESS = "127.0.0.1:8000"
LOOPBACK = ("127.0.0.1", "localhost", "::1")


def main(arguments: list[str] | None = None) -> None:
    """Serve until the client goes away."""
    options = _parser().parse_args(arguments)
    server = build_server(home=options.home, config=options.config, toolsets=options.toolsets)
    try:
        if options.http is None:
            _keep_prints_off_the_wire()
            server.run("stdio")
        else:
            host, port = options.http
            server.run("streamable-http", host=host, port=port)
    except* WfError as group:
        error = _first(group)
        sys.stderr.write(f"wf-mcp: {error} ({error.code})\n")
        sys.exit(meaning(error.code).exit_status)
    finally:
        # The transport has given fd 1 back; what a module left in the buffer of sys.stdout is flushed after this.
        os.dup2(sys.stderr.fileno(), 1)


def _keep_prints_off_the_wire() -> None:
    """Show prints as they happen. The transport takes fd 1 for itself while it serves, and points it at stderr."""
    sys.stdout.reconfigure(line_buffering=True)  # pyright: ignore[reportAttributeAccessIssue]


def _first(group: BaseExceptionGroup[WfError]) -> WfError:
    inner = group.exceptions[0]
    return _first(inner) if isinstance(inner, BaseExceptionGroup) else inner


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="wf-mcp",
        description="An MCP server that runs durable workflows. Without arguments it speaks MCP on stdio.",
    )
    parser.add_argument(
        "--home",
        type=Path,
        metavar="DIR",
        help="where everything is stored (default: $WF_HOME, else the user's data folder)",
    )
    parser.add_argument(
        "--config", type=Path, metavar="FILE", help="configuration (default: wf.json in this folder, else in the home)"
    )
    parser.add_argument(
        "--toolsets", type=_toolsets, default=TOOLSETS, metavar="NAMES", help=f"default: {','.join(TOOLSETS)}"
    )
    parser.add_argument(
        "--http",
        type=_address,
        nargs="?",
        const=_address(DEFAULT_ADDRESS),
        metavar="HOST:PORT",
        help=f"serve Streamable HTTP at /mcp, on this machine only (default: {DEFAULT_ADDRESS})",
    )
    return parser


def _toolsets(text: str) -> tuple[Toolset, ...]:
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in TOOLSETS:
            nearest = close_matches(name, TOOLSETS, 1) or list(TOOLSETS)
            raise argparse.ArgumentTypeError(f"{name!r} is no toolset; there is {', '.join(nearest)}")
    return tuple(cast(list[Toolset], names))


def _address(text: str) -> tuple[str, int]:
    """Read HOST:PORT, HOST or PORT.

    Raises:
        ArgumentTypeError: it is no address, or not one that only this machine can reach.
    """
    host, _, port = text.rpartition(":") if ":" in text or text.isdigit() else (text, "", "")
    host = host.strip("[]") or "127.0.0.1"
    if host not in LOOPBACK:
        raise argparse.ArgumentTypeError(
            f"{host} can be reached from other machines, and who may use it cannot be configured yet; use {LOOPBACK[0]}"
        )
    if port and not (port.isdigit() and 0 < int(port) < 65536):
        raise argparse.ArgumentTypeError(f"{port!r} is no port")
    return host, int(port or DEFAULT_ADDRESS.rpartition(":")[2])


if __name__ == "__main__":
    main()
