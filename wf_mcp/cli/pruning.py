"""`wf runs prune`: delete runs that ended long ago."""

import re
from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Annotated, Final, TypeVar, get_args

import typer
from rich.console import Group, RenderableType

from wf_core.state import FINAL
from wf_mcp.app import App
from wf_mcp.cli.operate import operate, ticker
from wf_mcp.cli.output import AsJson, show, status, table, when
from wf_mcp.cli.screen import line
from wf_mcp.operations.caller import LOCAL_PERSON
from wf_mcp.operations.models import RunStatus
from wf_mcp.operations.pruning import PrunedRuns, prune_runs

Status = TypeVar("Status", bound=str)

_AGE: Final = re.compile(r"(\d{1,9})([smhdw])")
_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def age(text: str) -> timedelta:
    """Read a length of time: 90m, 12h, 30d, 4w."""
    match = _AGE.fullmatch(text)
    if match is None:
        raise typer.BadParameter("write a number and s, m, h, d or w, as in 30d")
    try:
        return timedelta(**{_UNITS[match[2]]: int(match[1])})
    except OverflowError:
        raise typer.BadParameter("that is too long") from None


def chosen(texts: list[str] | None, every: Sequence[Status], ended: Collection[Status]) -> list[Status]:
    """Read statuses, each given alone or several with commas between; those that are `ended` where none is given."""
    given = [word.strip() for text in texts or [] for word in text.split(",")]
    known: dict[str, Status] = {name: name for name in every}
    if unknown := [word for word in given if word not in known]:
        raise typer.BadParameter(f"{unknown[0]!r} is no status; there is {', '.join(sorted(ended))}")
    return [known[word] for word in given] or sorted(ended)


OlderThan: Final = typer.Option("--older-than", metavar="AGE", parser=age, help="90m, 12h, 30d or 4w since it ended.")
DryRun: Final = typer.Option("--dry-run", help="Say what would be deleted, and delete nothing.")


def with_count(rows: RenderableType, count: int, *, dry_run: bool) -> RenderableType:
    """Say below the rows how many they are, if there are any."""
    done = "would be deleted" if dry_run else "deleted"
    return Group(rows, line(f"{count} {done}", style="bold")) if count else rows


def prune(
    context: typer.Context,
    older_than: Annotated[timedelta, OlderThan],
    status: Annotated[
        list[str] | None, typer.Option("--status", help="Only completed, failed or cancelled runs; may be repeated.")
    ] = None,
    dry_run: Annotated[bool, DryRun] = False,
    as_json: AsJson = False,
) -> None:
    """Delete runs that ended long ago, with their traces. Open runs are never deleted."""
    wanted: list[RunStatus] = chosen(status, get_args(RunStatus), FINAL)

    async def action(wf: App) -> PrunedRuns:
        async with ticker("looking for runs to delete") as progress:
            return await prune_runs(
                wf,
                older_than=older_than,
                statuses=wanted,
                dry_run=dry_run,
                caller=LOCAL_PERSON,
                progress=progress,
            )

    show(operate(context, action, as_json=as_json), _render, as_json=as_json)


def _render(found: PrunedRuns) -> RenderableType:
    rows = table(
        ("run", "status", "deployment", "ended"),
        ((run.run_id, status(run.status), run.deployment_id, when(run.updated_at)) for run in found.runs),
        empty=f"No run ended before {found.ended_before}.",
    )
    return with_count(rows, len(found.runs), dry_run=found.dry_run)
