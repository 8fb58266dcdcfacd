"""The steps that steps hold: the body of a loop, the branches of a parallel step, a child workflow.

Drawings show each inside of its step, and a run's paths lead through them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from wf_core.plan import BREAK, END, WorkflowPlan
from wf_core.plan.steps import EndStep, ForeachStep, ParallelStep, Step, SubgraphStep

SavedPlans = Mapping[tuple[str, int], WorkflowPlan]
"""Children by artifact and version, as far as they are known."""

Key = tuple[str, ...]
"""A step wherever it stands: the subgraph steps that lead to its plan, and its own id."""


@dataclass(frozen=True, slots=True)
class Body:
    """Steps that a plan, or a step of it, runs."""

    plan: WorkflowPlan
    start: str
    at: Key = ()
    """The subgraph steps that lead to the plan."""
    title: str = ""
    ends: Mapping[str, str] = field(default_factory=lambda: {END: "end"})
    """What it means here to route to an end."""

    def key(self, step_id: str) -> Key:
        return (*self.at, step_id)


def whole(plan: WorkflowPlan) -> Body:
    """Give the body that is a plan itself."""
    return Body(plan, plan.start)


def bodies(around: Body, step_id: str, saved: SavedPlans) -> list[Body]:
    """Give what a step holds; nothing of a saved child that is not known."""
    match around.plan.steps[step_id]:
        case ForeachStep(as_=alias, routes=routes):
            ends = {END: f"next {alias}", BREAK: "leave the loop"}
            return [replace(around, start=routes["loop"], title=f"each {alias}", ends=ends)]
        case ParallelStep(branches=branches):
            return [
                replace(around, start=first, title=name, ends={END: f"end of {name}"})
                for name, first in branches.items()
            ]
        case SubgraphStep() as step:
            child = _child(step, saved)
            at, ends = around.key(step_id), {END: "end of the child"}
            return [] if child is None else [Body(child, child.start, at, child.name, ends)]
        case _:
            return []


def exits(step: Step) -> Mapping[str, str]:
    """Give where a step can go on to within its own body, by outcome."""
    match step:
        case EndStep():
            return {}
        case ForeachStep():
            return {outcome: target for outcome, target in step.routes.items() if outcome != "loop"}
        case _:
            return step.routes


def along(plan: WorkflowPlan, path: Sequence[str], saved: SavedPlans) -> Iterator[Key]:
    """Give the steps that a path of a run leads through, the last one last; as far as they are known."""
    inside: WorkflowPlan | None = plan
    at: Key = ()
    rest = iter(path)
    for step_id in rest:
        if inside is None or step_id not in inside.steps:
            return
        yield (*at, step_id)
        match inside.steps[step_id]:
            case ForeachStep() | ParallelStep():
                next(rest, None)  # which item, or which branch
            case SubgraphStep() as step:
                inside, at = _child(step, saved), (*at, step_id)
            case _:
                return


def _child(step: SubgraphStep, saved: SavedPlans) -> WorkflowPlan | None:
    reference = step.workflow
    if reference.plan is not None:
        return WorkflowPlan.model_validate(reference.plan)
    return saved.get((reference.artifact_id or "", reference.version or 0))
