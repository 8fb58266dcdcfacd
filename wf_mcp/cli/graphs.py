"""Plans drawn for a terminal in colour, with the places where a run has been."""

from collections.abc import Mapping, Sequence
from typing import Literal

from rich.console import RenderableType
from rich.text import Text

from wf_core.plan import WorkflowPlan
from wf_mcp.cli.bodies import Key, SavedPlans, along
from wf_mcp.cli.drawing import Line, draw
from wf_mcp.cli.output import console
from wf_mcp.cli.screen import line, stacked
from wf_mcp.operations.models import RunSummary, TraceEntry

Mark = Literal["done", "waiting", "failed"]

MARKS: Mapping[Mark | None, tuple[str, str]] = {
    "done": ("✓", "green"),
    "waiting": ("?", "bold yellow"),
    "failed": ("✗", "bold red"),
    None: ("·", ""),
}
"""The sign of each mark and its colour."""


def marks(
    run: RunSummary, entries: Sequence[TraceEntry], plan: WorkflowPlan, saved: SavedPlans | None = None
) -> dict[Key, Mark]:
    """Say of each step whether the run has done it, waits in it or in what it holds, or failed there.

    Of a step that several items of a loop come to, a question that is open counts more than a failure, and that more
    than what went well.
    """
    found: dict[Key, Mark] = {}

    def mark(path: Sequence[str], what: Mark, *, around: bool) -> None:
        keys = list(along(plan, path, saved or {}))
        found.update(dict.fromkeys(keys if around else keys[-1:], what))

    for entry in entries:
        if entry.error is None:
            mark(entry.path, "done", around=False)
    for entry in entries:
        if entry.error is not None:
            mark(entry.path, "failed", around=False)
    if run.error is not None:
        mark(run.error.path, "failed", around=True)
    for waited in (*run.interrupts, *run.pending_calls):
        mark(waited.path, "waiting", around=True)
    return found


def drawing(
    plan: WorkflowPlan, marked: Mapping[Key, Mark] | None = None, saved: SavedPlans | None = None
) -> RenderableType:
    """Draw a plan; with marks, say of each step what became of it."""
    lines = draw(plan, saved)
    width = max((len(one.indent) + len(one.step[-1]) for one in lines if one.step), default=0)
    return stacked(*(_drawn(one, width, marked) for one in lines))


def print_drawing(
    plan: WorkflowPlan, marked: Mapping[Key, Mark] | None = None, saved: SavedPlans | None = None
) -> None:
    """Print a drawing; its lines are never folded."""
    console().print(drawing(plan, marked, saved), no_wrap=True, overflow="ellipsis")


def _drawn(one: Line, width: int, marked: Mapping[Key, Mark] | None) -> Text:
    """Show one line; what is said of the steps stands below each other, behind `width`."""
    indent = (one.indent, "dim")
    if one.step is None:
        return line(indent, (one.text, "dim"))
    step_id = one.step[-1]
    sign, style = MARKS[(marked or {}).get(one.step)]
    space = " " * (width - len(one.indent) - len(step_id) + 2)
    signed = f"{sign} " if marked is not None else ""
    return line(indent, (signed, style), (step_id, style or "bold"), space, (one.text, "cyan"))
