"""Advancing a session from the command line: until it rests, with what was done meanwhile, and how the program ends."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import NoReturn

import typer

from wf_mcp.app import App
from wf_mcp.cli import conversations
from wf_mcp.cli.operate import operate, ticker
from wf_mcp.cli.output import console, print_json
from wf_mcp.errors import ExitStatus
from wf_mcp.operations import sessions as operations
from wf_mcp.operations.caller import LOCAL_PERSON
from wf_mcp.operations.session_models import SessionSummary, TurnView
from wf_mcp.operations.session_summaries import summary

EXITS = {
    "ready": ExitStatus.DONE,
    "answered": ExitStatus.DONE,
    "running": ExitStatus.WAITING,
    "waiting": ExitStatus.WAITING,
    "failed": ExitStatus.FAILED,
    "blocked": ExitStatus.BLOCKED,
    "unrunnable": ExitStatus.BLOCKED,
}
"""How a command ends that advanced a session."""

WAIT_SECONDS = 45.0
"""What one operation waits at most. It waits again until the session rests: it is advanced by this process."""

Go = Callable[[App], Awaitable[SessionSummary]]


@dataclass(frozen=True, slots=True)
class Advanced:
    """Where a session stands, and which turns are new or have changed."""

    told: SessionSummary
    turns: list[TurnView]


def advance(context: typer.Context, session_id: str, go: Go, *, as_json: bool) -> NoReturn:
    """Advance a session, show what was done and where it stands, and end with the status that says it, too."""

    async def action(wf: App) -> Advanced:
        async with ticker("going on"):
            return await watched(wf, session_id, go) if not as_json else Advanced(await rested(wf, await go(wf)), [])

    end(operate(context, action, as_json=as_json), as_json=as_json)


def end(done: Advanced, *, as_json: bool) -> NoReturn:
    """Show what was done, or print exactly what the tool answers; end with the status that says it, too."""
    if as_json:
        print_json(done.told.model_dump(mode="json"))
    else:
        console().print(conversations.advanced(done.told, done.turns))
    raise typer.Exit(exit_status(done.told))


async def watched(wf: App, session_id: str, go: Go) -> Advanced:
    """Advance a session, and find out which turns that made or changed."""
    before = await operations.inspect_session(wf, session_id=session_id, turns=1, caller=LOCAL_PERSON)
    told = await rested(wf, await go(wf))
    # A turn whose calls had no results yet is the one turn that changes.
    open_before = any(turn.by == "user" and turn.calls for turn in before.conversation)
    new = told.turns - before.turns + open_before
    after = await operations.inspect_session(
        wf, session_id=session_id, turns=min(new, operations.MOST_TURNS), caller=LOCAL_PERSON
    )
    return Advanced(told, after.conversation)


async def rested(wf: App, told: SessionSummary) -> SessionSummary:
    """Wait until a session that this process advances has come to rest."""
    while told.status == "running" and told.session_id is not None:
        found = await operations.inspect_session(
            wf, session_id=told.session_id, turns=0, wait_seconds=WAIT_SECONDS, caller=LOCAL_PERSON
        )
        told = summary(found)
    return told


def exit_status(told: SessionSummary) -> ExitStatus:
    """Say how a command ends; a session whose model could not be asked is ready, but this did not succeed."""
    return ExitStatus.FAILED if told.status == "ready" and told.error is not None else EXITS[told.status]
