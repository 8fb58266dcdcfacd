"""A plan written as a Mermaid flowchart. What a step holds (the body of a loop, a branch, a child) is a box."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import assert_never

from wf_core.plan import WorkflowPlan
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
from wf_mcp.cli.bodies import Body, Key, bodies, exits, whole
from wf_mcp.cli.visible import visible
from wf_mcp.cli.wording import describe


def mermaid(plan: WorkflowPlan) -> str:
    """Write a plan as a Mermaid flowchart; saved children are named, not shown."""
    chart = _Chart()
    top = chart.box(whole(plan))
    lines = ["flowchart TD", f"  begin((start)) --> {chart.name(top, plan.start)}"]
    # A stack of its own: what steps hold may nest deeper than Python's.
    waiting: list[_Box | str] = [top]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            lines.append(one)
        else:
            waiting += reversed(list(chart.parts(one)))
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class _Box:
    body: Body
    id: str
    indent: str


@dataclass(slots=True)
class _Chart:
    names: dict[Key, str] = field(default_factory=dict[Key, str])
    boxes: int = 0

    def box(self, body: Body, indent: str = "  ") -> _Box:
        self.boxes += 1
        return _Box(body, f"b{self.boxes - 1}", indent)

    def name(self, box: _Box, target: str) -> str:
        """Name the node of a step, or of an end of its box."""
        if target in box.body.ends:
            return f"{box.id}{target}"
        return self.names.setdefault(box.body.key(target), f"s{len(self.names)}")

    def parts(self, box: _Box) -> Iterator[_Box | str]:
        """Give what stands in a box: its steps, the boxes of what they hold, and only then the arrows.

        Mermaid puts a step into the box that mentions it first.
        """
        plan, indent = box.body.plan, box.indent
        arrows: list[str] = []
        reached = {box.body.start}
        for step_id in self._members(box):
            step, name = plan.steps[step_id], self.name(box, step_id)
            opening, closing = _shape(step)
            label = f"{_escape(step_id)}<br/><small>{_escape(describe(step))}</small>"
            yield f'{indent}{name}{opening}"{label}"{closing}'
            for body in bodies(box.body, step_id, {}):
                inner = self.box(body, f"{indent}  ")
                yield f'{indent}subgraph {inner.id} ["{_escape(body.title)}"]'
                yield inner
                yield f"{indent}end"
                arrows.append(f"{indent}{name} -.-> {self.name(inner, body.start)}")
            for outcome, target in exits(step).items():
                reached.add(target)
                arrows.append(f'{indent}{name} -- "{_escape(outcome)}" --> {self.name(box, target)}')
        for target, text in box.body.ends.items():
            if target in reached:
                yield f'{indent}{self.name(box, target)}(("{_escape(text)}"))'
        yield from arrows

    def _members(self, box: _Box) -> list[str]:
        """List the steps that a body reaches without entering what its steps hold, in the order of the plan."""
        plan = box.body.plan
        found: set[str] = set()
        pending = [box.body.start]
        while pending:
            step_id = pending.pop()
            if step_id in plan.steps and step_id not in found:
                found.add(step_id)
                pending += exits(plan.steps[step_id]).values()
        return [step_id for step_id in plan.steps if step_id in found]


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
    return "".join(f"#{ord(char)};" if char in '"#<>&;`|{}[]()' else char for char in visible(text))
