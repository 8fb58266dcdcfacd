"""`wf session prune`: delete sessions that ended long ago."""

from datetime import timedelta
from typing import Annotated, get_args

import typer
from rich.console import RenderableType

from wf_artifacts.sessions.models import SessionStatus
from wf_artifacts.sessions.rules import ENDED
from wf_mcp.app import App
from wf_mcp.cli.operate import operate, ticker
from wf_mcp.cli.output import AsJson, show, status, table, when
from wf_mcp.cli.pruning import DryRun, OlderThan, chosen, with_count
from wf_mcp.operations.caller import LOCAL_PERSON
from wf_mcp.operations.session_pruning import PrunedSessions, prune_sessions


def prune(
    context: typer.Context,
    older_than: Annotated[timedelta, OlderThan],
    status: Annotated[
        list[str] | None, typer.Option("--status", help="Only answered or failed sessions; may be repeated.")
    ] = None,
    dry_run: Annotated[bool, DryRun] = False,
    as_json: AsJson = False,
) -> None:
    """Delete sessions that ended long ago. One that waits, is advanced, or that a run waits for is never deleted."""
    wanted: list[SessionStatus] = chosen(status, get_args(SessionStatus), ENDED)

    async def action(wf: App) -> PrunedSessions:
        async with ticker("looking for sessions to delete") as progress:
            return await prune_sessions(
                wf,
                older_than=older_than,
                statuses=wanted,
                dry_run=dry_run,
                caller=LOCAL_PERSON,
                progress=progress,
            )

    show(operate(context, action, as_json=as_json), _render, as_json=as_json)


def _render(found: PrunedSessions) -> RenderableType:
    rows = table(
        ("session", "status", "agent", "ended"),
        ((one.session_id, status(one.status), one.agent, when(one.updated_at)) for one in found.sessions),
        empty=f"No session ended before {found.ended_before}.",
    )
    return with_count(rows, len(found.sessions), dry_run=found.dry_run)
