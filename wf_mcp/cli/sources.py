"""`wf sources`: where capabilities come from."""

from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from wf_mcp.app import App
from wf_mcp.cli.operate import operate, ticker
from wf_mcp.cli.output import AsJson, diagnostic, facts, show, table
from wf_mcp.cli.screen import line, stacked
from wf_mcp.errors import ExitStatus
from wf_mcp.operations import sources as operations
from wf_mcp.operations.models import SourceCheck, SourceList, SourceRow

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Where capabilities come from.")

Source = Annotated[str, typer.Argument(metavar="SOURCE", help="The source's name.")]


@app.command("list")
def list_sources(context: typer.Context, as_json: AsJson = False) -> None:
    """List the configured sources. None is started for it."""
    show(operate(context, operations.list_sources, as_json=as_json), _rows, as_json=as_json)


@app.command("show")
def show_source(context: typer.Context, source: Source, as_json: AsJson = False) -> None:
    """Start a source, and show what it offers."""
    show(_check(context, source, as_json=as_json), _whole, as_json=as_json)


@app.command()
def check(context: typer.Context, source: Source, as_json: AsJson = False) -> None:
    """Start a source, and end with status 4 when it cannot be used."""
    checked = _check(context, source, as_json=as_json)
    show(checked, _whole, as_json=as_json)
    if not checked.available:
        raise typer.Exit(ExitStatus.BLOCKED)


def _check(context: typer.Context, source: str, *, as_json: bool) -> SourceCheck:
    async def action(wf: App) -> SourceCheck:
        async with ticker(f"starting {source}"):
            return await operations.check_source(wf, source=source)

    return operate(context, action, as_json=as_json)


def _rows(found: SourceList) -> RenderableType:
    rows = table(
        ("source", "kind", "state"),
        ((source.name, source.kind, _state(source)) for source in found.sources),
        empty="No sources.",
    )
    return Group(rows, *(diagnostic(one) for source in found.sources for one in source.diagnostics))


def _whole(source: SourceCheck) -> RenderableType:
    return Group(
        facts(
            (
                ("source", source.name),
                ("kind", source.kind),
                ("state", _state(source)),
                ("offers", stacked(*map(line, source.capabilities)) if source.capabilities else None),
            )
        ),
        *(diagnostic(one) for one in source.diagnostics),
    )


def _state(source: SourceRow) -> Text:
    styles = {"ready": "green", "unavailable": "red", "disabled": "dim"}
    return line(source.status, style=styles.get(source.status, ""))
