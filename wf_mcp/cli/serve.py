"""`wf serve`: the MCP server over HTTP, for clients that do not start it themselves."""

from typing import Annotated

import typer

from wf_mcp.cli.operate import guard
from wf_mcp.cli.place import Place
from wf_mcp.server.build import build_server
from wf_mcp.server.transport import Address, read_address, serve_http

app = typer.Typer(add_completion=False)


@app.command()
def serve(
    context: typer.Context,
    address: Annotated[str, typer.Argument(metavar="[HOST:PORT]", help="On this machine only.")] = str(Address()),
) -> None:
    """Serve MCP over Streamable HTTP until Ctrl-C."""
    place: Place = context.find_root().obj
    server = guard(lambda: build_server(home=place.home, config=place.config, redactor=place.redactor))
    guard(lambda: serve_http(server, read_address(address)))
