"""Plans drawn for a terminal in colour, with the places where a run has been."""

from collections.abc import Mapping, Sequence
from typing import Literal

from rich.console import RenderableType
from rich.text import Text

from wf_core.plan import WorkflowPlan
from wf_mcp.cli.bodies import Key, SavedPlans, along
from wf_mcp.cli.drawing import draw
from wf_mcp.cli.output import console
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
    width = max((len(line.indent) + len(line.step[-1]) for line in lines if line.step), default=0)
    picture = Text()
    for line in lines:
        picture.append(f"{line.indent}", style="dim")
        if line.step is None:
            picture.append(f"{line.text}\n", style="dim")
            continue
        step_id = line.step[-1]
        sign, style = MARKS[(marked or {}).get(line.step)]
        picture.append(f"{sign} " if marked is not None else "", style=style)
        picture.append(step_id, style=style or "bold")
        picture.append(" " * (width - len(line.indent) - len(step_id) + 2) + f"{line.text}\n", style="cyan")
    picture.rstrip()
    return picture


def print_drawing(
    plan: WorkflowPlan, marked: Mapping[Key, Mark] | None = None, saved: SavedPlans | None = None
) -> None:
    """Print a drawing; its lines are never folded."""
    console().print(drawing(plan, marked, saved), no_wrap=True, overflow="ellipsis")
