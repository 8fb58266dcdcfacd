"""How things are shown: tables and colour for people, the structured answer for programs, errors on stderr."""

import sys
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, TypeVar

import typer
from pydantic import BaseModel
from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from wf_core.times import parse_iso
from wf_mcp.cli.commands import as_commands
from wf_mcp.cli.screen import INDENT, Screen, block, line, stacked
from wf_mcp.cli.visible import exact_json, visible
from wf_mcp.errors import describe
from wf_mcp.operations.models import Diagnostic

AsJson = Annotated[bool, typer.Option("--json", help="Print the structured result, as the MCP tool gives it.")]
Cursor = Annotated[str | None, typer.Option(help="next_cursor of the page before.")]
Limit = Annotated[int, typer.Option(help="How many, at most 100.")]

WIDTH_OF_A_PIPE = 160
"""Columns where there is no terminal to ask: wide enough that no id is cut."""

LONGEST_NAME = 40
"""Columns of a name beside its value. Names are of others, too, and must leave room for what is said of them."""

ONE_LINE = 80
"""Characters of JSON that are shown without line breaks."""

STYLES = {
    "completed": "green",
    "running": "cyan",
    "interrupted": "yellow",
    "waiting": "yellow",
    "answered": "green",
    "failed": "red",
    "cancelled": "dim",
    "unrunnable": "red",
    "ready": "green",
    "blocked": "red",
    "error": "red",
    "warning": "yellow",
}
"""Colours of statuses and severities."""

T = TypeVar("T", bound=BaseModel)


def console(*, stderr: bool = False) -> Screen:
    """Give stdout, or stderr, as a place to show things on."""
    made = Screen(stderr=stderr)
    return made if made.is_terminal else Screen(stderr=stderr, width=WIDTH_OF_A_PIPE)


def show(answer: T, render: Callable[[T], RenderableType], *, as_json: bool) -> None:
    """Print an answer: for people as `render` says, else exactly as the tool gives it."""
    if as_json:
        print_json(answer.model_dump(mode="json"))
    else:
        console().print(render(answer))


def print_json(value: Any) -> None:
    """Print JSON, indented, on stdout; with escapes where stdout cannot hold every character."""
    takes_all = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().replace("_", "-").startswith("utf")
    typer.echo(exact_json(value, ascii_only=not takes_all))


def print_text(text: str) -> None:
    """Print text alone on stdout, for people and programs to take as it is: never folded."""
    typer.echo(visible(text, lines=True))


def show_error(error: Exception, *, as_json: bool) -> None:
    """Say on stderr what went wrong and what to do; to a program also as the structured result of the tool."""
    shown = describe(error)
    said: list[Text] = [
        line(("error", "bold red"), " ", (shown["code"], "red"), ": ", block(shown["message"], indent=INDENT))
    ]
    if shown["hint"]:
        said.append(block(as_commands(shown["hint"]), style="dim", indent=INDENT))
    # Those of a policy have no severity: the message names each.
    issues = [issue for issue in shown["details"].get("issues", []) if "severity" in issue]
    said += [diagnostic(Diagnostic.model_validate(issue)) for issue in issues]
    console(stderr=True).print(stacked(*said), soft_wrap=True)
    if as_json:
        print_json({"error": shown})


def table(columns: Sequence[str], rows: Iterable[Sequence[str | Text]], *, empty: str) -> RenderableType:
    """Lay out rows under columns, the first of which is never cut; or say that there are none."""
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", show_edge=False)
    for number, column in enumerate(columns):
        made.add_column(column, no_wrap=number == 0, overflow="fold")
    for row in rows:
        made.add_row(*map(line, row))
    return made if made.row_count else line(empty, style="dim")


def facts(pairs: Iterable[tuple[str, RenderableType | None]]) -> RenderableType:
    """Lay out names and values; a value of None is left out."""
    made = Table.grid(padding=(0, 2))
    made.add_column(style="dim", max_width=LONGEST_NAME, overflow="fold")
    made.add_column(overflow="fold")
    for name, value in pairs:
        if value is not None:
            made.add_row(line(name), line(value) if isinstance(value, str) else value)
    return made


def status(word: str) -> Text:
    """Colour a status or a severity."""
    return line(word, style=STYLES.get(word, ""))


def diagnostic(found: Diagnostic) -> Text:
    """Tell a diagnostic in one or two lines."""
    place = f" at {found.path}" if found.path else ""
    said = line(status(found.severity), f" {found.code}{place}: ", block(found.message, indent=INDENT))
    return stacked(said, hint(found.hint)) if found.hint else said


def hint(text: str) -> Text:
    """Say below something else what to do about it."""
    return line(INDENT, block(as_commands(text), style="dim", indent=INDENT))


def as_text(value: Any, *, limit: int = 2000) -> Text:
    """Show a JSON value: text as it is, anything else as JSON, on one line when it is short; cut when it is long."""
    text = value if isinstance(value, str) else exact_json(value, indent=None)
    if not isinstance(value, str) and len(text) > ONE_LINE:
        text = exact_json(value)
    return block(text if len(text) <= limit else text[:limit] + " …")


def when(moment: str | None) -> str:
    """Say a stored time as people do: how long ago, or the day."""
    if moment is None:
        return "never"
    seconds = (datetime.now(UTC) - parse_iso(moment)).total_seconds()
    for size, unit in ((60, "s"), (3600, "min"), (86400, "h")):
        if seconds < size:
            return f"{max(0, int(seconds // (size / 60 if unit != 'h' else 3600)))} {unit} ago"
    return moment[:10]
