"""The graph that a plan's routes make: what can be reached, what ends, and which loop a step belongs to.

Works on routes alone, as far as they could be read, so that it also sees through steps with other faults.
A step belongs to the loop whose body reaches it; the steps reached without entering a body belong to none. A branch
of a parallel step is a body too, by the name `step.branch`.
"""

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

MAX_LOOPS = 64
"""Loops inside one another."""


@dataclass(frozen=True, slots=True)
class Entry:
    """The way from a step into a body that belongs to it."""

    step_id: str
    body: str
    """The loop, or `step.branch`."""
    place: tuple[str, str]
    """Where in the step it is written."""
    target: str


@dataclass(frozen=True, slots=True)
class Vertex:
    """A step as the graph sees it."""

    kind: str
    routes: Mapping[str, str]
    alias: str = ""
    """The `as` of a foreach."""
    serial: bool = True
    branches: Mapping[str, str] = field(default_factory=dict[str, str])
    """Of a parallel step: name -> first step."""

    def entries(self, step_id: str) -> list[Entry]:
        """List the ways into the bodies of this step."""
        if self.kind == "foreach" and "loop" in self.routes:
            return [Entry(step_id, step_id, ("routes", "loop"), self.routes["loop"])]
        return [
            Entry(step_id, f"{step_id}.{name}", ("branches", name), target) for name, target in self.branches.items()
        ]

    @property
    def exits(self) -> dict[str, str]:
        """The routes within the frame that the step itself is in."""
        return {outcome: target for outcome, target in self.routes.items() if not self._enters(outcome)}

    def _enters(self, outcome: str) -> bool:
        return self.kind == "foreach" and outcome == "loop"


@dataclass(frozen=True, slots=True)
class Escape:
    """A route that leaves a body otherwise than by ending the item, or an entry to what is no body of its own."""

    step_id: str
    place: tuple[str, str]
    """Where in the step it is written."""
    target: str
    body: str
    entering: bool


@dataclass(slots=True)
class Graph:
    vertices: Mapping[str, Vertex]
    loops: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Step -> the loops around it, the outermost first."""
    reachable: set[str] = field(default_factory=set[str])
    """Steps that a run can come to from the start."""
    escapes: list[Escape] = field(default_factory=list[Escape])
    too_deep: list[str] = field(default_factory=list[str])
    """Loops inside so many others that their bodies were not followed."""

    def context_names(self, step_id: str) -> frozenset[str]:
        """Name what the loops around a step put into `context`."""
        aliases = [self.vertices[loop].alias for loop in self.loops[step_id] if loop in self.vertices]
        return frozenset(name for alias in aliases for name in (alias, f"{alias}_index"))

    def may_break(self, step_id: str) -> bool:
        """Tell whether a step is in the body of a serial loop, and not in a branch inside it."""
        around = self.loops[step_id]
        return bool(around) and around[-1] in self.vertices and self.vertices[around[-1]].serial

    def bodies(self) -> dict[str, list[str]]:
        """List the steps inside each body, those of bodies inside it included, in the order of the plan."""
        found: dict[str, list[str]] = {}
        for step_id in self.vertices:
            for loop in self.loops[step_id]:
                found.setdefault(loop, []).append(step_id)
        return found

    def ending(self) -> set[str]:
        """Give the steps from which their frame can end. A target that does not exist may be meant as an end."""
        before: dict[str, list[str]] = {}
        for step_id, vertex in self.vertices.items():
            for target in vertex.exits.values():
                before.setdefault(target, []).append(step_id)
        pending = [step_id for step_id, vertex in self.vertices.items() if vertex.kind == "end"]
        pending += [step_id for target, steps in before.items() if target not in self.vertices for step_id in steps]
        found: set[str] = set()
        while pending:
            step_id = pending.pop()
            if step_id not in found:
                found.add(step_id)
                pending += before.get(step_id, [])
        return found


def build_graph(steps: Mapping[str, Any], start: str | None) -> Graph:
    """Read the graph from steps as they are written. Without a known start nothing is reachable."""
    vertices = {step_id: _vertex(step) for step_id, step in steps.items()}
    graph = Graph(vertices)
    if start in vertices:
        _claim_frames(graph, start)
        graph.reachable.update(graph.loops)
    for root in _roots([step_id for step_id in vertices if step_id not in graph.loops], vertices):
        if root not in graph.loops:
            _claim_frames(graph, root)
    return graph


def _vertex(step: object) -> Vertex:
    if not isinstance(step, dict):
        return Vertex("", {})
    written = cast("dict[str, Any]", step)
    alias = written.get("as")
    kind = str(written.get("type"))
    return Vertex(
        kind=kind,
        routes=_texts(written.get("routes")),
        branches=_texts(written.get("branches")) if kind == "parallel" else {},
        alias=alias if isinstance(alias, str) else "",
        serial=written.get("mode", "serial") == "serial",
    )


def _texts(value: object) -> dict[str, str]:
    """Keep of an object what leads somewhere."""
    members = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    return {name: target for name, target in members.items() if isinstance(target, str)}


def _roots(leftover: list[str], vertices: Mapping[str, Vertex]) -> list[str]:
    """Order unreachable steps so that those which no other one leads to come first."""
    targets = {
        target
        for step_id in leftover
        for target in (*vertices[step_id].routes.values(), *vertices[step_id].branches.values())
        if target != step_id
    }
    return sorted(leftover, key=lambda step_id: step_id in targets)


def _claim_frames(graph: Graph, root: str) -> None:
    """Assign the steps reached from `root` to their loops: an outer frame as a whole before the bodies inside it."""
    claimed = [(step_id, ()) for step_id in _claim(graph, root, ())]
    waiting = deque(_entries(graph, claimed))
    while waiting:
        entry, around = waiting.popleft()
        if entry.target in graph.loops:
            # Another frame has this step already: the body begins outside of itself.
            graph.escapes.append(Escape(entry.step_id, entry.place, entry.target, entry.body, entering=True))
        else:
            inside = (*around, entry.body)
            waiting += _entries(graph, [(step_id, inside) for step_id in _claim(graph, entry.target, inside)])


def _entries(graph: Graph, steps: list[tuple[str, tuple[str, ...]]]) -> Iterator[tuple[Entry, tuple[str, ...]]]:
    """Yield the ways into the bodies of steps that were just claimed, with the bodies around each."""
    for step_id, around in steps:
        for entry in graph.vertices[step_id].entries(step_id):
            if entry.target not in graph.vertices:
                continue
            if len(around) < MAX_LOOPS:
                yield entry, around
            elif step_id not in graph.too_deep:
                graph.too_deep.append(step_id)


def _claim(graph: Graph, entry: str, loops: tuple[str, ...]) -> list[str]:
    """Assign to one frame what its entry leads to, and note the routes that leave it."""
    graph.loops[entry] = loops
    claimed = [entry]
    for step_id in claimed:
        for outcome, target in graph.vertices[step_id].exits.items():
            if target not in graph.vertices:
                continue
            if target not in graph.loops:
                graph.loops[target] = loops
                claimed.append(target)
            elif loops and graph.loops[target] != loops:
                graph.escapes.append(Escape(step_id, ("routes", outcome), target, loops[-1], entering=False))
    return claimed
