"""Runs as people want to see them: a summary, a question, a trace."""

from collections.abc import Iterable, Sequence
from typing import Any, cast

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.text import Text

from wf_mcp.cli.graphs import MARKS
from wf_mcp.cli.output import as_text, diagnostic, facts, status, table, when
from wf_mcp.cli.screen import INDENT, block, line
from wf_mcp.operations.models import InterruptView, PendingCall, RunSummary, TraceEntry, TracePage


def summary(run: RunSummary) -> RenderableType:
    """Show where a run stands, what it asks, and what can be done next."""
    parts: list[RenderableType] = [
        facts(
            (
                ("run", run.run_id or line("none was created", style="dim")),
                ("status", status(run.status)),
                ("deployment", f"{run.deployment_id} → {run.artifact_id} {run.artifact_version}"),
                ("outcome", run.outcome),
                ("output", None if run.output is None else as_text(run.output)),
                ("steps", str(run.steps_executed) if run.run_id else None),
                ("changed", when(run.updated_at) if run.run_id else None),
            )
        )
    ]
    if run.error is not None:
        where = f" in {'/'.join(run.error.path)}" if run.error.path else ""
        effects = "nothing was changed" if run.error.side_effects == "none" else "what it changed is unknown"
        parts.append(
            line(
                ("failed", "bold red"),
                f"{where}: ",
                block(run.error.message, indent=INDENT),
                (f" ({run.error.code}; {effects})", "dim"),
            )
        )
    parts += [diagnostic(found) for found in run.diagnostics]
    parts += [question(asked) for asked in run.interrupts]
    parts += [call(waiting) for waiting in run.pending_calls]
    if run.interrupts and run.resume_readiness == "ready":
        parts.append(line(("answer it: ", "dim"), f"wf runs resume {run.run_id}"))
    return Group(*parts)


def question(asked: InterruptView) -> RenderableType:
    """Show an open question with what it was asked with."""
    shown = [(name, as_text(value)) for name, value in _fields(asked.payload)]
    body = facts([*shown, ("answers", ", ".join(asked.outcomes))])
    who = ", only a person answers" if asked.answered_by == "person" else ""
    title = line((f" {asked.step_id} ", "bold"), f"asks: {asked.kind}{who} ")
    return Panel(
        body,
        title=title,
        title_align="left",
        border_style="yellow",
        expand=False,
        subtitle=line(f" {asked.id} "),
        subtitle_align="right",
    )


def call(waiting: PendingCall) -> RenderableType:
    """Show a call of a run that waits, and what can be said of it."""
    fields = [(name, as_text(value)) for name, value in _fields(waiting.arguments)]
    doubtful = waiting.state == "in_doubt"
    body = Group(
        line(waiting.reason or "", style="dim"),
        facts(
            (
                ("capability", waiting.capability),
                ("step", "/".join(waiting.path)),
                ("began" if doubtful else "waits since", f"{waiting.since} ({when(waiting.since)})"),
                ("until", waiting.expires_at),
                ("arguments", facts(fields) if fields else line("none", style="dim")),
            )
        ),
        line(),
        line("Find out whether it was carried out, then say so:" if doubtful else "Then say so:"),
        facts(_answers(waiting)),
    )
    title = line((f" {waiting.step_id} ", "bold"), f"called, and {_AWAITED[waiting.awaits or 'in_doubt']} ")
    return Panel(body, title=title, title_align="left", border_style="red" if doubtful else "yellow", expand=False)


_AWAITED = {
    "deferred": "somebody outside is to do it",
    "approval": "a person is to allow it",
    "isolated": "there is no runner for it",
    "callee": "it goes on elsewhere",
    "in_doubt": "nobody knows what became of it",
}


def _answers(waiting: PendingCall) -> Iterable[tuple[str, str]]:
    """Give what can be said of a call, and how."""
    if waiting.awaits == "approval":
        yield "allow it", f"wf calls approve {waiting.token}"
        yield "refuse it", f"wf calls fail {waiting.token}"
        return
    if waiting.awaits == "callee":
        if waiting.session_id is None:
            yield "ask it again", f"wf calls retry {waiting.token}"
        yield "end it, and answer in its place", f"wf calls complete {waiting.token} RESULT"
        yield "end it, and give the call up", f"wf calls fail {waiting.token}"
        return
    yield "it was, and gave", f"wf calls complete {waiting.token} RESULT"
    yield "it failed", f"wf calls fail {waiting.token}"
    if waiting.awaits != "deferred":
        yield "make it again", f"wf calls retry {waiting.token}"


def trace(page: TracePage) -> RenderableType:
    """Show a part of a trace as a table."""
    entries = trace_table(page.entries)
    if page.next_start is None:
        return entries
    return Group(entries, line(f"more: --start {page.next_start} ({page.trace_count} entries in all)", style="dim"))


def trace_table(entries: Sequence[TraceEntry]) -> RenderableType:
    """Show trace entries, one a row."""
    return table(
        ("", "step", "type", "outcome", "wrote", "took"),
        (
            (
                line(str(entry.index), style="dim"),
                "/".join(entry.path),
                entry.step_type,
                _outcome(entry),
                ", ".join(path.removeprefix("state.") for path in entry.state_changes or ()),
                _took(entry),
            )
            for entry in entries
        ),
        empty="Nothing yet.",
    )


def step(entry: TraceEntry) -> Text:
    """Show one trace entry as it happens, on one line."""
    sign, style = MARKS["waiting" if _asks(entry) else "failed" if entry.error else "done"]
    name = "/".join(entry.path)
    return line((f"{sign} ", style), f"{name:<16} ", _outcome(entry), (f"  {_took(entry)}", "dim"))


def _fields(payload: Any) -> Iterable[tuple[str, Any]]:
    return cast("dict[str, Any]", payload).items() if isinstance(payload, dict) else [("", payload)]


def _took(entry: TraceEntry) -> str:
    """Say how long a step took; of an answered question, how long it was open."""
    if entry.duration_ms is None or _asks(entry):
        return ""
    return f"{entry.duration_ms:.0f} ms" if entry.duration_ms < 1000 else f"{entry.duration_ms / 1000:.1f} s"


def _asks(entry: TraceEntry) -> bool:
    """Say whether an entry is about a question that opened."""
    return entry.outcome is None and entry.error is None


_SPEAKERS = {"person": "a person", "outside": "from outside", "callee": "its callee", "time": "too late"}


def _outcome(entry: TraceEntry) -> Text:
    said = "" if entry.settled is None else f" ({_SPEAKERS[entry.settled.by]}: {entry.settled.kind})"
    if entry.error is not None:
        return line(entry.error["code"] + said, style="red")
    if _asks(entry):
        return line("asks", style="yellow")
    return line((entry.outcome or "") + said + (f" → {entry.next_step_id}" if entry.next_step_id else ""))
