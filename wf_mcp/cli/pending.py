"""`wf pending`: what waits for an answer."""

from typing import Annotated

import typer
from rich.console import RenderableType
from rich.text import Text

from wf_mcp.cli import conversations
from wf_mcp.cli.commands import as_commands
from wf_mcp.cli.operate import operate
from wf_mcp.cli.output import AsJson, Cursor, Limit, show, table, when
from wf_mcp.cli.screen import line
from wf_mcp.operations import pending as operations
from wf_mcp.operations.caller import LOCAL_PERSON
from wf_mcp.operations.models import PendingItem, PendingList

app = typer.Typer(add_completion=False)


@app.command()
def pending(
    context: typer.Context,
    run: Annotated[str | None, typer.Option("--run", help="Only what this run waits for.")] = None,
    session: Annotated[str | None, typer.Option("--session", help="Only what this session waits for.")] = None,
    cursor: Cursor = None,
    limit: Limit = 20,
    as_json: AsJson = False,
) -> None:
    """List what waits for somebody, newest first: `wf runs resume RUN`, or `wf calls show TOKEN`, says more."""
    page = operate(
        context,
        lambda wf: operations.list_pending(
            wf, run_id=run, session_id=session, cursor=cursor, limit=limit, caller=LOCAL_PERSON
        ),
        as_json=as_json,
    )
    show(page, _rows, as_json=as_json)


def _rows(page: PendingList) -> RenderableType:
    return table(
        ("run or session", "of", "waits for", "since"),
        (
            (
                item.run_id or item.session_id or "",
                item.deployment_id or item.agent or "",
                _what(item),
                when(item.since),
            )
            for item in page.pending
        ),
        empty="Nothing waits.",
    )


def _what(item: PendingItem) -> Text:
    if item.interrupt is not None:
        return line(f"{item.interrupt.id}: {item.interrupt.step_id} asks {item.interrupt.kind}")
    if item.call is not None:
        called = f"{item.call.step_id} called " if item.call.step_id else ""
        return line(f"{item.call.token}: {called}{item.call.capability}, ", conversations.awaited(item.call))
    return line(as_commands(item.next_action))
