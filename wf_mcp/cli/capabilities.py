"""`wf capabilities`: what a workflow's steps can call."""

from typing import Annotated

import typer
from rich.console import Group, RenderableType

from wf_mcp.app import App
from wf_mcp.cli.documents import read_object
from wf_mcp.cli.operate import operate, ticker
from wf_mcp.cli.output import AsJson, Cursor, Limit, as_text, diagnostic, facts, show, table
from wf_mcp.cli.screen import block
from wf_mcp.operations import sources as operations
from wf_mcp.operations.models import CallAnswer, CapabilityList, CapabilityView, HintsView

app = typer.Typer(add_completion=False, no_args_is_help=True, help="What a workflow's steps can call.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="source.capability")]


@app.command("list")
def list_capabilities(
    context: typer.Context,
    query: Annotated[str | None, typer.Argument(help="Words to look for.")] = None,
    source: Annotated[str | None, typer.Option(help="Only those of this source.")] = None,
    cursor: Cursor = None,
    limit: Limit = 100,
    as_json: AsJson = False,
) -> None:
    """List what can be called, asking every source."""

    async def action(wf: App) -> CapabilityList:
        async with ticker("asking the sources"):
            return await operations.list_capabilities(wf, query=query, source=source, cursor=cursor, limit=limit)

    show(operate(context, action, as_json=as_json), _rows, as_json=as_json)


@app.command("show")
def show_capability(context: typer.Context, name: Name, as_json: AsJson = False) -> None:
    """Show the contract of one capability."""
    found = operate(context, lambda wf: operations.inspect_capability(wf, name=name), as_json=as_json)
    show(found, _contract, as_json=as_json)


@app.command()
def call(
    context: typer.Context,
    name: Name,
    given: Annotated[str, typer.Argument(metavar="[INPUT]", help="JSON, @FILE, or - for stdin.")] = "{}",
    as_json: AsJson = False,
) -> None:
    """Call one capability, outside any run. It really acts."""

    async def action(wf: App) -> CallAnswer:
        value = read_object(given, name="INPUT")
        async with ticker(f"calling {name}"):
            return await operations.call_capability(wf, name=name, input=value)

    show(operate(context, action, as_json=as_json), _answer, as_json=as_json)


def _rows(page: CapabilityList) -> RenderableType:
    rows = table(
        ("capability", "effects", "outcomes", "what it does"),
        (
            (
                row.name,
                _effects(row.hints),
                ", ".join(row.outcomes),
                (row.description or row.title or "").split("\n")[0],
            )
            for row in page.capabilities
        ),
        empty="No capabilities.",
    )
    return Group(rows, *(diagnostic(found) for found in page.diagnostics))


def _contract(found: CapabilityView) -> RenderableType:
    return facts(
        (
            ("capability", found.name),
            ("does", block(found.description or found.title or "")),
            ("effects", _effects(found.hints)),
            ("outcomes", ", ".join(found.outcomes)),
            ("input", as_text(found.input_schema)),
            ("output", as_text(found.output_schema)),
            ("digest", found.digest),
        )
    )


def _answer(answer: CallAnswer) -> RenderableType:
    return facts((("outcome", answer.outcome), ("output", as_text(answer.output))))


def _effects(hints: HintsView) -> str:
    if hints.read_only:
        return "reads"
    return "writes, may repeat" if hints.idempotent else "writes"
