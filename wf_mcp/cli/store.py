"""`wf store`: look after what is stored as a whole."""

from typing import Annotated

import anyio
import typer
from rich.console import Group, RenderableType

from wf_mcp.cli.operate import guard, ticker
from wf_mcp.cli.output import AsJson, diagnostic, facts, show
from wf_mcp.cli.paths import named
from wf_mcp.cli.screen import line
from wf_mcp.errors import ExitStatus
from wf_mcp.operations.copying import CopiedStore, copy_store

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Look after what is stored as a whole.")

_ADDRESS = "file:///folder, sqlite:///file.db or postgresql://…"


@app.callback()
def store() -> None:
    """Look after what is stored as a whole."""


@app.command()
def copy(
    source: Annotated[str, typer.Argument(metavar="FROM", help=_ADDRESS)],
    target: Annotated[str, typer.Argument(metavar="TO", help="The same; nothing may be there yet.")],
    as_json: AsJson = False,
) -> None:
    """Copy everything to an empty store, and read it back. Ends with status 4 if anything is left out.

    No server may advance runs or sessions of FROM meanwhile. To use the copy, name it as `store` in wf.json.
    """

    async def act() -> CopiedStore:
        async with ticker("copying") as progress:
            with named("One of the addresses"):
                return await copy_store(source, target, progress=progress)

    copied = guard(lambda: anyio.run(act), as_json=as_json)
    show(copied, _render, as_json=as_json)
    if copied.left_out:
        raise typer.Exit(ExitStatus.BLOCKED)


def _render(copied: CopiedStore) -> RenderableType:
    counts = facts(
        (
            ("artifact versions", str(copied.artifacts)),
            ("deployments", str(copied.deployments)),
            ("runs", str(copied.runs)),
            ("sessions", str(copied.sessions)),
            ("calls", str(copied.calls)),
            ("cached results", str(copied.cached_results)),
        )
    )
    left_out = [diagnostic(one) for one in copied.left_out]
    return Group(counts, line("Left out:", style="bold"), *left_out) if left_out else counts
