"""A plan drawn for a terminal.

The drawing follows the routes from the start: a step that can go on in one way is followed by the next, a step that can
go on in several opens a branch for each. What a step holds (the body of a loop, a child) stands below it, behind a bar.
A step is drawn once; later routes to it name it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from wf_core.plan import BREAK, END, WorkflowPlan
from wf_core.plan.steps import Step, SubgraphStep
from wf_mcp.cli.bodies import Body, Key, SavedPlans, bodies, exits, whole
from wf_mcp.cli.wording import describe

_SIGNS: Mapping[str, str] = {END: "■", BREAK: "⇥"}


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a drawing."""

    indent: str
    """The lines that run down on the left."""
    step: Key | None
    """The step that this line draws; None for a route or a title."""
    text: str
    """What is said beside the step, or the route."""


def draw(plan: WorkflowPlan, saved: SavedPlans | None = None) -> list[Line]:
    """Draw a plan as lines of text, from its start downward. Saved children that are known are drawn once each."""
    return list(_lines(plan, saved or {}))


@dataclass(frozen=True, slots=True)
class _Way:
    """A route that is still to be drawn, or the way into a body."""

    body: Body
    target: str
    indent: str
    """Of what stands at its end."""
    before: Line | None = None
    """What announces it."""
    branches: bool = False
    """Whether the announcement names a target that is not drawn here."""


def _lines(plan: WorkflowPlan, saved: SavedPlans) -> Iterator[Line]:
    drawn: set[Key] = set()
    unfolded: set[tuple[str, int]] = set()
    # A stack of its own: a long chain of conditions would exhaust Python's.
    waiting = [_Way(whole(plan), plan.start, "")]
    while waiting:
        way = waiting.pop()
        body, key = way.body, way.body.key(way.target)
        known = key in drawn or way.target not in body.plan.steps
        if way.before is not None:
            named = f" {_elsewhere(body, way.target)}" if known and way.branches else ""
            yield Line(way.before.indent, None, way.before.text + named)
        if not known:
            drawn.add(key)
            step = body.plan.steps[way.target]
            yield Line(way.indent, key, describe(step))
            held = [] if _was_unfolded(step, unfolded) else bodies(body, way.target, saved)
            waiting += reversed([*_inside(held, way.indent), *_onward(way)])
        elif not way.branches:
            yield Line(way.indent, None, _elsewhere(body, way.target))


def _inside(held: list[Body], indent: str) -> Iterator[_Way]:
    """Give the ways into what a step holds. Where there are several, each has its title."""
    for body in held:
        title = Line(indent, None, f"┃ {body.title}:") if len(held) > 1 else None
        yield _Way(body, body.start, f"{indent}┃ ", title)


def _onward(way: _Way) -> Iterator[_Way]:
    """Give the ways on from a step that has been drawn."""
    ways = exits(way.body.plan.steps[way.target])
    if len(ways) == 1:
        [(outcome, target)] = ways.items()
        yield _Way(way.body, target, way.indent, Line(way.indent, None, f"↓ {outcome}"))
        return
    for number, (outcome, target) in enumerate(ways.items(), start=1):
        opening, below = ("└─ ", "   ") if number == len(ways) else ("├─ ", "│  ")
        announced = Line(way.indent, None, f"{opening}{outcome}")
        yield _Way(way.body, target, way.indent + below, announced, branches=True)


def _was_unfolded(step: Step, unfolded: set[tuple[str, int]]) -> bool:
    """Say whether a step runs a saved child that has been drawn before, and note that it is drawn now."""
    if not isinstance(step, SubgraphStep) or step.workflow.plan is not None:
        return False
    version = (step.workflow.artifact_id or "", step.workflow.version or 0)
    known = version in unfolded
    unfolded.add(version)
    return known


def _elsewhere(body: Body, target: str) -> str:
    return f"{_SIGNS[target]} {body.ends[target]}" if target in body.ends else f"→ {target}"
