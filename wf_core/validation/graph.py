"""The graph that a plan's routes make: what can be reached, what ends, and which loop a step belongs to.

Works on routes alone, as far as they could be read, so that it also sees through steps with other faults.
A step belongs to the loop whose body reaches it; the steps reached without entering a body belong to none.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

MAX_LOOPS = 64
"""Loops inside one another."""


@dataclass(frozen=True, slots=True)
class Vertex:
    """A step as the graph sees it."""

    kind: str
    routes: Mapping[str, str]
    alias: str = ""
    """The `as` of a foreach."""
    serial: bool = True

    @property
    def entry(self) -> str | None:
        """The first step of a loop's body."""
        return self.routes.get("loop") if self.kind == "foreach" else None

    @property
    def exits(self) -> dict[str, str]:
        """The routes within the frame that the step itself is in."""
        return {outcome: target for outcome, target in self.routes.items() if not self._enters(outcome)}

    def _enters(self, outcome: str) -> bool:
        return self.kind == "foreach" and outcome == "loop"


@dataclass(frozen=True, slots=True)
class Escape:
    """A route that leaves the body of a loop otherwise than by ending the item."""

    step_id: str
    outcome: str
    target: str
    loop: str


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
        aliases = [self.vertices[loop].alias for loop in self.loops[step_id]]
        return frozenset(name for alias in aliases for name in (alias, f"{alias}_index"))

    def bodies(self) -> dict[str, list[str]]:
        """List the steps inside each loop, those of loops inside it included, in the order of the plan."""
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
    routes: Any = written.get("routes")
    known = cast("dict[str, Any]", routes) if isinstance(routes, dict) else {}
    alias = written.get("as")
    return Vertex(
        kind=str(written.get("type")),
        routes={outcome: target for outcome, target in known.items() if isinstance(target, str)},
        alias=alias if isinstance(alias, str) else "",
        serial=written.get("mode", "serial") == "serial",
    )


def _roots(leftover: list[str], vertices: Mapping[str, Vertex]) -> list[str]:
    """Order unreachable steps so that those which no other one leads to come first."""
    targets = {target for step_id in leftover for target in vertices[step_id].routes.values() if target != step_id}
    return sorted(leftover, key=lambda step_id: step_id in targets)


def _claim_frames(graph: Graph, root: str) -> None:
    """Assign the steps reached from `root` to their loops: an outer frame as a whole before the bodies inside it."""
    entries: deque[tuple[str, tuple[str, ...]]] = deque([(root, ())])
    while entries:
        entry, loops = entries.popleft()
        if entry in graph.loops:
            # Another frame has this step already: the loop's body begins outside of the loop.
            graph.escapes.append(Escape(loops[-1], "loop", entry, loops[-1]))
            continue
        for step_id in _claim(graph, entry, loops):
            first = graph.vertices[step_id].entry
            if first is None or first not in graph.vertices:
                continue
            if len(loops) < MAX_LOOPS:
                entries.append((first, (*loops, step_id)))
            else:
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
                graph.escapes.append(Escape(step_id, outcome, target, loops[-1]))
    return claimed
