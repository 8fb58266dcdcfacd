"""Checks what the items of concurrent loops may write beside each other."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

from wf_core.errors import InvalidPath
from wf_core.paths import Segments, format_path, parse_state_target
from wf_core.plan import ForeachStep, InterruptStep, NodeStep, SubgraphStep
from wf_core.plan.reducers import MERGEABLE
from wf_core.plan.steps import AnyStep, CollectErrors
from wf_core.schemas import JsonSchema
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
    """Report state paths that several items of one concurrent loop may write and whose reducer keeps only one write.

    An issue also where only some items come to the write: which ones they are is known only when it is too late.
    """
    bodies = graph.bodies()
    for loop, step in steps.items():
        if isinstance(step, ForeachStep) and step.mode == "concurrent":
            inside = [inner for inner in bodies.get(loop, ()) if inner in steps]
            writes = [write for inner in inside for write in _writes_of(steps[inner], found.at("steps", inner))]
            _check_loop(loop, writes, state_schema)


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
