"""`wf plan`: check, draw and explain plan files."""

from enum import StrEnum
from typing import Annotated

import typer
from rich.console import Group, RenderableType

from wf_core.errors import InvalidPlan
from wf_core.plan import WorkflowPlan
from wf_core.validation import read_plan as validate_plan
from wf_mcp.cli.documents import read_plan
from wf_mcp.cli.graphs import print_drawing
from wf_mcp.cli.mermaid import mermaid
from wf_mcp.cli.operate import guard, operate
from wf_mcp.cli.output import AsJson, diagnostic, print_json, print_text, show
from wf_mcp.cli.screen import line
from wf_mcp.errors import ExitStatus
from wf_mcp.operations import artifacts as operations
from wf_mcp.operations.models import ValidationResult

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Check, draw and explain plan files.")

Plan = Annotated[str, typer.Argument(metavar="PLAN", help="A file, JSON, or - for stdin.")]


class Format(StrEnum):
    """How a graph is drawn."""

    TERMINAL = "terminal"
    MERMAID = "mermaid"


@app.command()
def validate(context: typer.Context, plan: Plan, as_json: AsJson = False) -> None:
    """Find everything that is wrong with a plan. Ends with status 2 when it is not valid."""
    document = guard(lambda: read_plan(plan), as_json=as_json)
    result = operate(context, lambda wf: operations.validate_workflow(wf, plan=document), as_json=as_json)
    show(result, _verdict, as_json=as_json)
    if not result.valid:
        raise typer.Exit(ExitStatus.USAGE)


@app.command()
def graph(
    plan: Plan, form: Annotated[Format, typer.Option("--format", help="How to draw it.")] = Format.TERMINAL
) -> None:
    """Draw a plan."""
    records = guard(lambda: _records(plan))
    if form is Format.MERMAID:
        print_text(mermaid(records))
    else:
        print_drawing(records)


@app.command()
def schema() -> None:
    """Print the JSON Schema of a plan."""
    print_json(WorkflowPlan.model_json_schema())


def _records(plan: str) -> WorkflowPlan:
    """Read a plan that is sound enough to be drawn.

    Raises:
        InvalidPlan: it is not; names every issue.
    """
    report = validate_plan(read_plan(plan))
    if report.plan is None:
        raise InvalidPlan("The plan is not valid.", [issue.as_json() for issue in report.issues])
    return report.plan


def _verdict(result: ValidationResult) -> RenderableType:
    verdict = line("valid", style="bold green") if result.valid else line("not valid", style="bold red")
    return Group(verdict, *(diagnostic(issue) for issue in result.issues))
