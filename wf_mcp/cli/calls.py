"""`wf calls`: calls that wait for the outside, those in doubt among them, and what a person says of them."""

from collections.abc import Awaitable, Callable
from typing import Annotated

import typer
from rich.console import RenderableType

from wf_mcp.app import App
from wf_mcp.cli import conversations, pictures
from wf_mcp.cli.documents import read_json
from wf_mcp.cli.operate import Ticker, operate, ticker
from wf_mcp.cli.output import AsJson, Cursor, Limit, show, table, when
from wf_mcp.cli.runs import WAIT_SECONDS, end, until_it_stops
from wf_mcp.operations import calls as operations
from wf_mcp.operations import pending
from wf_mcp.operations.caller import LOCAL_PERSON
from wf_mcp.operations.models import PendingList, RunSummary
from wf_mcp.operations.session_models import SessionSummary

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Calls that wait for the outside, or of which nobody knows whether they were carried out.",
)

Token = Annotated[str, typer.Argument(metavar="TOKEN", help="The call's token, as `wf calls list` shows it.")]


@app.command("list")
def list_calls(
    context: typer.Context,
    run: Annotated[str | None, typer.Option("--run", help="Only those of this run.")] = None,
    cursor: Cursor = None,
    limit: Limit = 20,
    as_json: AsJson = False,
) -> None:
    """List the calls that wait: for a result from outside, an approval, or a person's word of what became of them."""
    page = operate(
        context,
        lambda wf: pending.list_pending(wf, run_id=run, only="call", cursor=cursor, limit=limit, caller=LOCAL_PERSON),
        as_json=as_json,
    )
    show(page, _rows, as_json=as_json)


@app.command("show")
def show_call(context: typer.Context, token: Token, as_json: AsJson = False) -> None:
    """Show a call, and what can be said of it."""
    call = operate(context, lambda wf: operations.inspect_call(wf, token=token, caller=LOCAL_PERSON), as_json=as_json)
    show(call, conversations.call if call.session_id else pictures.call, as_json=as_json)


@app.command()
def complete(
    context: typer.Context,
    token: Token,
    result: Annotated[str, typer.Argument(metavar="RESULT", help="What the call gave: JSON, @FILE, or -.")],
    outcome: Annotated[
        str | None, typer.Option("--outcome", help="Which of the capability's outcomes it was (default: ok).")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Deliver the result of a call; of one in doubt, say that it was carried out and gave RESULT. The run goes on."""

    async def action(wf: App, progress: Ticker) -> RunSummary | SessionSummary:
        return await operations.complete_call(
            wf,
            token=token,
            result=read_json(result, name="RESULT"),
            outcome=outcome,
            wait_seconds=WAIT_SECONDS,
            caller=LOCAL_PERSON,
            progress=progress,
        )

    _settle(context, token, action, as_json=as_json)


@app.command()
def fail(
    context: typer.Context,
    token: Token,
    error: Annotated[str | None, typer.Option("--error", help="Why.")] = None,
    as_json: AsJson = False,
) -> None:
    """Say that a call failed: its step fails or takes its route `error`; a model is told."""

    async def action(wf: App, progress: Ticker) -> RunSummary | SessionSummary:
        return await operations.fail_call(
            wf, token=token, error=error, wait_seconds=WAIT_SECONDS, caller=LOCAL_PERSON, progress=progress
        )

    _settle(context, token, action, as_json=as_json)


@app.command()
def approve(context: typer.Context, token: Token, as_json: AsJson = False) -> None:
    """Allow a call that waits for a person's approval; a run makes it at once. `wf calls fail` refuses it."""

    async def action(wf: App, progress: Ticker) -> RunSummary | SessionSummary:
        return await operations.approve_call(
            wf, token=token, wait_seconds=WAIT_SECONDS, caller=LOCAL_PERSON, progress=progress
        )

    _settle(context, token, action, as_json=as_json)


@app.command()
def retry(context: typer.Context, token: Token, as_json: AsJson = False) -> None:
    """Make a call in doubt again. If it was carried out after all, it is carried out twice.

    A call that found no runner is tried again, and one whose callee goes on elsewhere asks it again.
    """

    async def action(wf: App, progress: Ticker) -> RunSummary | SessionSummary:
        return await operations.retry_call(
            wf, token=token, wait_seconds=WAIT_SECONDS, caller=LOCAL_PERSON, progress=progress
        )

    _settle(context, token, action, as_json=as_json)


def _settle(
    context: typer.Context,
    token: str,
    settle: Callable[[App, Ticker], Awaitable[RunSummary | SessionSummary]],
    *,
    as_json: bool,
) -> None:
    """Give the word, and wait until the run stops again."""

    async def action(wf: App) -> RunSummary | SessionSummary:
        async with ticker(f"going on after {token}") as progress:
            told = await settle(wf, progress)
            return await until_it_stops(wf, told, progress) if isinstance(told, RunSummary) else told

    told = operate(context, action, as_json=as_json)
    if isinstance(told, RunSummary):
        end(told, as_json=as_json)
    show(told, conversations.answered, as_json=as_json)


def _rows(page: PendingList) -> RenderableType:
    return table(
        ("token", "capability", "of", "step or call", "waits for", "since"),
        (
            (
                item.call.token,
                item.call.capability,
                item.deployment_id or item.agent or "",
                item.call.call_id or "/".join(item.call.path),
                conversations.awaited(item.call),
                when(item.call.since),
            )
            for item in page.pending
            if item.call is not None
        ),
        empty="No call waits.",
    )
