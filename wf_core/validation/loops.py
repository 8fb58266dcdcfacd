"""Checks what the items of concurrent loops, and the branches of parallel steps, may write beside each other."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

from wf_core.errors import InvalidPath
from wf_core.jsonvalue import JsonSchema
from wf_core.paths import Segments, format_path, overlaps, parse_state_target
from wf_core.plan import ForeachStep, InterruptStep, NodeStep, ParallelStep, SubgraphStep
from wf_core.plan.reducers import MERGEABLE
from wf_core.plan.steps import AnyStep, CollectErrors
from wf_core.validation.graph import Graph
from wf_core.validation.report import Findings
from wf_core.validation.schemas import reducer_at


@dataclass(frozen=True, slots=True)
class _Write:
    segments: Segments
    found: Findings
    appends: bool = False
    """Whether it adds to a list whatever reducer the path has."""


def check_concurrent_writes(
    steps: Mapping[str, AnyStep], graph: Graph, state_schema: JsonSchema, found: Findings
) -> None:
    """Report state paths that several items or branches may write and whose reducer keeps only one write.

    An issue also where only some items come to the write: which ones they are is known only when it is too late.
    """
    bodies = graph.bodies()

    def writes_in(body: str) -> list[_Write]:
        inside = [inner for inner in bodies.get(body, ()) if inner in steps]
        return [write for inner in inside for write in _writes_of(steps[inner], found.at("steps", inner))]

    for step_id, step in steps.items():
        match step:
            case ForeachStep(mode="concurrent"):
                _check_loop(step_id, writes_in(step_id), state_schema)
            case ParallelStep(branches=branches):
                _check_branches(step_id, {name: writes_in(f"{step_id}.{name}") for name in branches}, state_schema)
            case _:
                pass


def _check_loop(loop: str, writes: list[_Write], state_schema: JsonSchema) -> None:
    written = {write.segments for write in writes}
    for write in writes:
        text = format_path(("state", *write.segments))
        outer = _outer(write.segments, written)
        if not write.appends and reducer_at(state_schema, write.segments) not in MERGEABLE:
            write.found.error(
                "conflicting_concurrent_write",
                f"Several items of `{loop}` may write `{text}`, and its reducer `replace` keeps only one of them.",
                "Give the path a reducer that joins writes, such as `append`, or make the loop serial.",
            )
        elif outer is not None:
            write.found.error(
                "conflicting_concurrent_write",
                f"Items of `{loop}` write both `{format_path(('state', *outer))}` and, inside it, `{text}`.",
                "Let the items write one of the two, or make the loop serial.",
            )


def _check_branches(step_id: str, branches: Mapping[str, list[_Write]], state_schema: JsonSchema) -> None:
    """Compare each branch with those before it: what one branch writes again and again is its own affair."""
    earlier: list[tuple[str, _Write]] = []
    for name, writes in branches.items():
        for write in writes:
            clash = next((other for other in earlier if _clash(write, other[1], state_schema)), None)
            if clash is not None:
                one, other = (format_path(("state", *each.segments)) for each in (clash[1], write))
                write.found.error(
                    "conflicting_concurrent_write",
                    f"The branch `{clash[0]}` of `{step_id}` writes `{one}` and the branch `{name}` writes `{other}`.",
                    "Let each branch write paths of its own, or give the path a reducer that joins writes.",
                )
        earlier += [(name, write) for write in writes]


def _clash(one: _Write, other: _Write, state_schema: JsonSchema) -> bool:
    if one.segments != other.segments:
        return overlaps(one.segments, other.segments)
    joined = reducer_at(state_schema, one.segments)
    return not all(write.appends or joined in MERGEABLE for write in (one, other))


def _outer(segments: Segments, written: set[Segments]) -> Segments | None:
    """Find a written path that this one leads into."""
    prefixes = (segments[:length] for length in range(len(segments)))
    return next((prefix for prefix in prefixes if prefix in written), None)


def _writes_of(step: AnyStep, found: Findings) -> Iterator[_Write]:
    match step:
        case NodeStep():
            yield from _targets(step.output, found.at("output"))
            yield from _targets(step.error_output, found.at("error_output"))
        case InterruptStep():
            yield from _targets(step.resume, found.at("resume"))
        case SubgraphStep():
            yield from _targets(step.output, found.at("output"))
        case ForeachStep(on_item_error=CollectErrors(collect_to=target)):
            for write in _targets([target], found):
                yield _Write(write.segments, found.at("on_item_error", "collect_to"), appends=True)
        case _:
            pass


def _targets(targets: Iterable[str], found: Findings) -> Iterator[_Write]:
    for target in targets:
        # What is no path is reported where the step itself is checked.
        with suppress(InvalidPath):
            yield _Write(parse_state_target(target), found.at(target))
