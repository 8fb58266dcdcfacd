"""`wf-mcp`: the MCP server, on stdio or on HTTP."""

import argparse
import os
import sys
from importlib.metadata import version
from pathlib import Path
from typing import TextIO, cast

from wf_core.errors import WfError
from wf_core.ids import close_matches
from wf_mcp.config import Redactor
from wf_mcp.config.streams import redact_streams
from wf_mcp.errors import InvalidArgument, first_error, meaning
from wf_mcp.server.build import build_server
from wf_mcp.server.toolsets import TOOLSETS, Toolset
from wf_mcp.server.transport import Address, read_address, serve_http, serve_stdio


def main(arguments: list[str] | None = None) -> None:
    """Serve until the client goes away."""
    _have_stderr()
    options = _parser().parse_args(arguments)
    redactor = Redactor()
    redact_streams(redactor)
    try:
        server = build_server(home=options.home, config=options.config, toolsets=options.toolsets, redactor=redactor)
        if options.http is None:
            serve_stdio(server)
        else:
            serve_http(server, options.http)
    except* WfError as group:
        error = first_error(group)
        sys.stderr.write(f"wf-mcp: {error} ({error.code})\n")
        sys.exit(meaning(error.code).exit_status)
    except* KeyboardInterrupt:
        sys.exit(130)  # what a shell says of a program that Ctrl-C ended


def _have_stderr() -> None:
    """Let what is logged go nowhere where stderr was closed, instead of into the next file that is opened."""
    if cast("TextIO | None", sys.stderr) is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - open until the program ends
        os.dup2(sys.stderr.fileno(), 2)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="wf-mcp",
        description="An MCP server that runs durable workflows. Without arguments it speaks MCP on stdio.",
    )
    parser.add_argument("--version", action="version", version=version("wf-mcp"))
    parser.add_argument(
        "--home", type=Path, metavar="DIR", help="where everything is stored (default: $WF_HOME, else the user's data)"
    )
    parser.add_argument(
        "--config", type=Path, metavar="FILE", help="configuration (default: wf.json in this folder, else in the home)"
    )
    parser.add_argument(
        "--toolsets",
        type=_toolsets,
        metavar="NAMES",
        help=f"of {','.join(TOOLSETS)}; default: all, but sessions only where wf.json names an agent",
    )
    parser.add_argument(
        "--http",
        type=_address,
        nargs="?",
        const=Address(),
        metavar="HOST:PORT",
        help=f"serve Streamable HTTP at /mcp, on this machine only (default: {Address()})",
    )
    return parser


def _toolsets(text: str) -> tuple[Toolset, ...]:
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in TOOLSETS:
            nearest = close_matches(name, TOOLSETS, 1) or list(TOOLSETS)
            raise argparse.ArgumentTypeError(f"{name!r} is no toolset; there is {', '.join(nearest)}")
    return tuple(cast(list[Toolset], names))


def _address(text: str) -> Address:
    try:
        return read_address(text)
    except InvalidArgument as error:
        raise argparse.ArgumentTypeError(str(error)) from error


if __name__ == "__main__":
    main()
