"""A plan drawn for a terminal and for Mermaid.

The drawing follows the routes from the start: a step that can go on in one way is followed by the next, a step that can
go on in several opens a branch for each. A step is drawn once; later routes to it name it.
"""

import json
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import assert_never

from wf_core.plan import WorkflowPlan
from wf_core.plan.bindings import (
    ArrayExpression,
    Expression,
    ObjectExpression,
    PathExpression,
    TemplateExpression,
    ValueExpression,
)
from wf_core.plan.conditions import Compare, Condition, Exists, Logic, Not
from wf_core.plan.steps import (
    ConditionStep,
    EndStep,
    ForeachStep,
    InterruptStep,
    JoinStep,
    NodeStep,
    ParallelStep,
    Step,
    SubgraphStep,
)

_SYMBOLS = {"eq": "=", "ne": "≠", "gt": ">", "ge": "≥", "lt": "<", "le": "≤", "in": "in", "matches": "matches"}
_ENDS = {"__end__": "end", "__break__": "leave the loop"}


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a drawing."""

    indent: str
    """The lines that run down on the left."""
    step_id: str | None
    """The step that this line draws; None for a route."""
    text: str
    """What is said beside the step, or the route."""


def draw(plan: WorkflowPlan) -> list[Line]:
    """Draw a plan as lines of text, from its start downward."""
    return list(_lines(plan))


def mermaid(plan: WorkflowPlan) -> str:
    """Write a plan as a Mermaid flowchart."""
    names = {step_id: f"s{number}" for number, step_id in enumerate(plan.steps)}
    lines = ["flowchart TD", f"  begin((start)) --> {names.get(plan.start, plan.start)}"]
    ends: set[str] = set()
    for step_id, step in plan.steps.items():
        opening, closing = _shape(step)
        label = f"{_escape(step_id)}<br/><small>{_escape(describe(step))}</small>"
        lines.append(f'  {names[step_id]}{opening}"{label}"{closing}')
        for outcome, target in routes(step).items():
            if target in _ENDS:
                ends.add(target)
            lines.append(f'  {names[step_id]} -- "{_escape(outcome)}" --> {names.get(target, target)}')
    lines += [f'  {target}(("{_ENDS[target]}"))' for target in sorted(ends)]
    return "\n".join(lines) + "\n"


def routes(step: Step) -> Mapping[str, str]:
    """Give where a step can go on to, by outcome."""
    match step:
        case EndStep():
            return {}
        case ParallelStep():
            return {**step.branches, **step.routes}
        case _:
            return step.routes


def describe(step: Step) -> str:
    """Say in a few words what a step does."""
    match step:
        case NodeStep():
            return str(step.use)
        case ConditionStep():
            return f"if {_question(step.check)}"
        case InterruptStep():
            return f"asks: {step.kind}" + (", a person answers" if step.answered_by == "person" else "")
        case JoinStep():
            return "join"
        case EndStep():
            return f"ends: {step.outcome}"
        case ForeachStep():
            return f"for each {step.as_} of {step.over}, {step.mode}"
        case ParallelStep():
            return f"at once: {', '.join(step.branches)}"
        case SubgraphStep():
            child = step.workflow
            return f"runs {child.artifact_id} {child.version}" if child.artifact_id else "runs the plan inside it"
        case _:
            assert_never(step)


@dataclass(frozen=True, slots=True)
class _Way:
    """A route that is still to be drawn. Without an outcome it is the way in."""

    outcome: str | None
    target: str
    indent: str
    last: bool = True


def _lines(plan: WorkflowPlan) -> Iterator[Line]:
    drawn: set[str] = set()
    # A stack of its own: a long chain of conditions would exhaust Python's.
    waiting = [_Way(None, plan.start, "")]
    while waiting:
        way = waiting.pop()
        indent = way.indent
        if way.outcome is not None:
            opening, below = ("└─ ", "   ") if way.last else ("├─ ", "│  ")
            known = way.target in drawn or way.target not in plan.steps
            yield Line(indent, None, f"{opening}{way.outcome}" + (f" {_elsewhere(way.target)}" if known else ""))
            if known:
                continue
            indent += below
        waiting += reversed((yield from _chain(plan, way.target, indent, drawn)))


def _chain(plan: WorkflowPlan, target: str, indent: str, drawn: set[str]) -> Generator[Line, None, list[_Way]]:
    """Draw steps one below the other until the way parts; give the ways from there."""
    while target in plan.steps and target not in drawn:
        drawn.add(target)
        step = plan.steps[target]
        yield Line(indent, target, describe(step))
        ways = list(routes(step).items())
        if len(ways) != 1:
            last = len(ways) - 1
            return [_Way(outcome, way, indent, number == last) for number, (outcome, way) in enumerate(ways)]
        (outcome, target) = ways[0]
        yield Line(indent, None, f"↓ {outcome}")
    yield Line(indent, None, _elsewhere(target))
    return []


def _elsewhere(target: str) -> str:
    return f"■ {_ENDS[target]}" if target in _ENDS else f"→ {target}"


def _question(check: Condition) -> str:
    match check:
        case Exists():
            return f"{check.path} exists"
        case Not():
            return f"not ({_question(check.arg)})"
        case Logic():
            return f" {check.op} ".join(f"({_question(arg)})" for arg in check.args)
        case Compare():
            return f"{_value(check.left)} {_SYMBOLS[check.op]} {_value(check.right)}"
        case _:
            assert_never(check)


def _value(expression: Expression) -> str:
    match expression:
        case PathExpression():
            return expression.path
        case ValueExpression():
            return json.dumps(expression.value, ensure_ascii=False)
        case TemplateExpression():
            return json.dumps(expression.template, ensure_ascii=False)
        case ObjectExpression():
            return "{…}"
        case ArrayExpression():
            return "[…]"
        case _:
            assert_never(expression)


def _shape(step: Step) -> tuple[str, str]:
    match step:
        case ConditionStep():
            return "{", "}"
        case InterruptStep():
            return "[/", "/]"
        case EndStep() | JoinStep():
            return "([", "])"
        case ForeachStep() | ParallelStep() | SubgraphStep():
            return "[[", "]]"
        case NodeStep():
            return "[", "]"
        case _:
            assert_never(step)


def _escape(text: str) -> str:
    """Write text so that Mermaid takes it as text, whatever it holds."""
    return "".join(f"#{ord(char)};" if char in '"#<>&;`|{}[]()' else char for char in text)
