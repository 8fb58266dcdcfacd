"""`wf runs`: start, answer, look at and cancel runs."""

import sys
from collections.abc import Iterator
from typing import Annotated

import typer
from rich.console import RenderableType

from wf_mcp.app import App
from wf_mcp.cli import asking, graphs, pictures, pruning
from wf_mcp.cli.documents import read_json, read_object
from wf_mcp.cli.operate import Ticker, guard, operate, ticker
from wf_mcp.cli.output import AsJson, Cursor, Limit, console, show, status, table, when
from wf_mcp.errors import ExitStatus
from wf_mcp.operations import recovery, traces
from wf_mcp.operations import runs as operations
from wf_mcp.operations.caller import LOCAL_PERSON
from wf_mcp.operations.definitions import RunDefinitions, inspect_definitions
from wf_mcp.operations.models import (
    RecoveredRuns,
    ResumeReadiness,
    RunList,
    RunRow,
    RunStatus,
    RunSummary,
    TraceEntry,
)

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Start, answer, look at and cancel runs.")

app.command()(pruning.prune)

RunId = Annotated[str, typer.Argument(metavar="RUN", help="The run's id.")]

EXITS = {
    "completed": ExitStatus.DONE,
    "running": ExitStatus.WAITING,
    "interrupted": ExitStatus.WAITING,
    "failed": ExitStatus.FAILED,
    "cancelled": ExitStatus.FAILED,
    "unrunnable": ExitStatus.BLOCKED,
}
"""How a command ends that started or answered a run."""

WAIT_SECONDS = 45.0
"""What one operation waits at most. It waits again until the run stops: the run is advanced by this process."""

PAGE = 100


@app.command()
def start(
    context: typer.Context,
    deployment: Annotated[str, typer.Argument(metavar="DEPLOYMENT", help="What to run.")],
    workflow_input: Annotated[str, typer.Option("--input", metavar="JSON", help="JSON, @FILE, or - for stdin.")] = "{}",
    key: Annotated[str | None, typer.Option("--key", help="The same key and input give the same run again.")] = None,
    as_json: AsJson = False,
) -> None:
    """Start a run, and wait until it stops."""

    async def action(wf: App) -> RunSummary:
        given = read_object(workflow_input, name="--input")
        async with ticker(f"running {deployment}") as progress:
            answer = await operations.run_deployment(
                wf,
                deployment_id=deployment,
                workflow_input=given,
                idempotency_key=key,
                wait_seconds=WAIT_SECONDS,
                caller=LOCAL_PERSON,
                progress=progress,
            )
            return await until_it_stops(wf, answer, progress)

    end(operate(context, action, as_json=as_json), as_json=as_json)


@app.command()
def resume(
    context: typer.Context,
    run_id: RunId,
    outcome: Annotated[str | None, typer.Option("--outcome", help="One of the question's outcomes.")] = None,
    payload: Annotated[str | None, typer.Option("--payload", metavar="JSON", help="JSON, @FILE, or -.")] = None,
    interrupt: Annotated[str | None, typer.Option("--interrupt", help="Which question, when several are open.")] = None,
    as_json: AsJson = False,
) -> None:
    """Answer the question at which a run stopped, and wait until it stops again.

    On a terminal, without --outcome and --payload, the question is shown and asked.
    """
    if outcome is None and payload is None and not as_json and sys.stdin.isatty():
        reply = _ask(context, run_id, interrupt)
    else:
        given = {} if payload is None else guard(lambda: read_json(payload, name="--payload"), as_json=as_json)
        reply = asking.Reply(outcome or "submitted", given, interrupt)

    async def action(wf: App) -> RunSummary:
        async with ticker(f"going on with {run_id}") as progress:
            summary = await operations.resume_run(
                wf,
                run_id=run_id,
                resume_payload=reply.payload,
                resume_outcome=reply.outcome,
                interrupt_id=reply.interrupt_id,
                wait_seconds=WAIT_SECONDS,
                caller=LOCAL_PERSON,
                progress=progress,
            )
            return await until_it_stops(wf, summary, progress)

    end(operate(context, action, as_json=as_json), as_json=as_json)


@app.command("show")
def show_run(
    context: typer.Context,
    run_id: RunId,
    check: Annotated[bool, typer.Option("--check", help="Ask every source whether the run could go on.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show where a run stands."""

    async def action(wf: App) -> RunSummary:
        if check:
            return await operations.validate_run(wf, run_id=run_id, caller=LOCAL_PERSON)
        return await _look_at(wf, run_id)

    show(operate(context, action, as_json=as_json), pictures.summary, as_json=as_json)


@app.command()
def trace(
    context: typer.Context,
    run_id: RunId,
    first: Annotated[int, typer.Option("--start", help="From 0; a negative number counts from the end.")] = 0,
    limit: Annotated[int, typer.Option(help="How many entries, at most 100.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Show what a run did, step by step."""
    page = operate(
        context,
        lambda wf: traces.read_run_trace(wf, run_id=run_id, start=first, limit=limit, caller=LOCAL_PERSON),
        as_json=as_json,
    )
    show(page, pictures.trace, as_json=as_json)


@app.command("list")
def list_runs(
    context: typer.Context,
    status: Annotated[RunStatus | None, typer.Option(help="Only runs that stand so.")] = None,
    deployment: Annotated[str | None, typer.Option(help="Only runs of this deployment.")] = None,
    readiness: Annotated[ResumeReadiness | None, typer.Option(help="Only runs that are so to resume.")] = None,
    cursor: Cursor = None,
    limit: Limit = 20,
    as_json: AsJson = False,
) -> None:
    """List runs, newest first."""
    page = operate(
        context,
        lambda wf: operations.list_runs(
            wf,
            status=status,
            deployment_id=deployment,
            resume_readiness=readiness,
            cursor=cursor,
            limit=limit,
            caller=LOCAL_PERSON,
        ),
        as_json=as_json,
    )
    show(page, _rows, as_json=as_json)


@app.command()
def cancel(
    context: typer.Context,
    run_id: RunId,
    reason: Annotated[str | None, typer.Option(help="Kept in the run's trace.")] = None,
    as_json: AsJson = False,
) -> None:
    """End a run for good."""
    summary = operate(
        context,
        lambda wf: operations.cancel_run(wf, run_id=run_id, reason=reason, caller=LOCAL_PERSON),
        as_json=as_json,
    )
    show(summary, pictures.summary, as_json=as_json)


@app.command()
def recover(
    context: typer.Context,
    run_id: Annotated[str | None, typer.Argument(metavar="[RUN]", help="Only this run.")] = None,
    as_json: AsJson = False,
) -> None:
    """Go on with the runs whose process is gone, and wait until they stop. A server does this by itself."""

    async def action(wf: App) -> RecoveredRuns:
        async with ticker("going on"):
            return await recovery.recover_runs(wf, run_id=run_id, caller=LOCAL_PERSON)

    found = operate(context, action, as_json=as_json)
    show(found, _recovered, as_json=as_json)
    if any(run.reason for run in found.runs):
        raise typer.Exit(ExitStatus.BLOCKED)


@app.command()
def graph(context: typer.Context, run_id: RunId) -> None:
    """Draw the plan of a run, and where the run is in it."""

    async def action(wf: App) -> tuple[RunSummary, RunDefinitions, list[TraceEntry]]:
        run = await _look_at(wf, run_id)
        definitions = await inspect_definitions(wf, run_id=run_id, caller=LOCAL_PERSON)
        return run, definitions, await _whole_trace(wf, run_id)

    run, started_with, entries = operate(context, action)
    plan, saved = started_with.plan, started_with.children
    graphs.print_drawing(plan, graphs.marks(run, entries, plan, saved), saved)


def _ask(context: typer.Context, run_id: str, interrupt: str | None) -> asking.Reply:
    """Show the question and ask it, with nothing open meanwhile: a person may take a day, or press Ctrl-C."""
    run = operate(context, lambda wf: _look_at(wf, run_id))
    question = guard(lambda: asking.choose(run, interrupt))
    console(stderr=True).print(pictures.question(question))
    return guard(lambda: asking.answer(question))


async def _look_at(wf: App, run_id: str) -> RunSummary:
    """Look at a run without going on with it: this process is about to end."""
    return await operations.inspect_run(wf, run_id=run_id, take_over=False, caller=LOCAL_PERSON)


async def until_it_stops(wf: App, summary: RunSummary, progress: Ticker) -> RunSummary:
    """Wait until a run stops, or until nothing goes on with it."""
    while summary.status == "running" and summary.run_id is not None and not summary.diagnostics:
        summary = await operations.inspect_run(
            wf, run_id=summary.run_id, wait_seconds=WAIT_SECONDS, caller=LOCAL_PERSON, progress=progress
        )
    return summary


def end(summary: RunSummary, *, as_json: bool) -> None:
    """Show where a run stands, and end with the status that says it, too."""
    show(summary, pictures.summary, as_json=as_json)
    raise typer.Exit(EXITS[summary.status])


async def _whole_trace(wf: App, run_id: str) -> list[TraceEntry]:
    entries: list[TraceEntry] = []
    while True:
        page = await traces.read_run_trace(wf, run_id=run_id, start=len(entries), limit=PAGE, caller=LOCAL_PERSON)
        entries += page.entries
        if not page.truncated:
            return entries


def _waits_for(row: RunRow) -> Iterator[str]:
    yield from (f"{question.step_id} ({question.kind})" for question in row.interrupts)
    yield from (f"{call.step_id} ({call.state.replace('_', ' ')})" for call in row.pending_calls)


def _recovered(found: RecoveredRuns) -> RenderableType:
    return table(
        ("run", "status", "left because"),
        ((run.run_id, status(run.status), run.reason or "") for run in found.runs),
        empty="No run is without a process.",
    )


def _rows(page: RunList) -> RenderableType:
    return table(
        ("run", "status", "deployment", "waits for", "steps", "changed"),
        (
            (
                row.run_id,
                status(row.status),
                f"{row.deployment_id} → {row.artifact_id} {row.artifact_version}",
                ", ".join(_waits_for(row)),
                str(row.steps_executed),
                when(row.updated_at),
            )
            for row in page.runs
        ),
        empty="No runs.",
    )
