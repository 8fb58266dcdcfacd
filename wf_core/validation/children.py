"""Finds the workflows that a plan runs as steps, and what they promise to it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from wf_core.jsonvalue import JsonSchema
from wf_core.plan import WorkflowRef
from wf_core.validation.report import Findings

MAX_WORKFLOWS = 64
"""Saved plans, and plans written in place in them, that may run inside one another."""

ArtifactVersion = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Absent:
    """A saved plan that does not exist."""

    hint: str | None = None
    """What there is instead."""


Children = Mapping[ArtifactVersion, Mapping[str, Any] | Absent]
"""Saved plans, those that children name in turn included. What is not here does not exist."""


@dataclass(frozen=True, slots=True)
class Child:
    """What the parent needs to know of a child's plan."""

    outcomes: tuple[str, ...]
    input_schema: JsonSchema
    output_schema: JsonSchema


class SavedPlans:
    """What is known of saved plans. Each is looked through once, however many steps run it."""

    def __init__(self, children: Children) -> None:
        self._children = children
        self._named: dict[ArtifactVersion, list[tuple[ArtifactVersion, int]]] = {}
        self._heights: dict[ArtifactVersion, int] = {}

    def child(self, version: ArtifactVersion, found: Findings) -> Child | None:
        """Look up what a step runs. None where it is unknown.

        Reports a version that does not exist, one that contains itself, and workflows inside one another without end.
        """
        for absent in self._absent(version):
            _report_absent(absent, self._children.get(absent), found if absent == version else found.at("version"))
        cycle = self._climb(version)
        if cycle is not None:
            chain = " -> ".join(f"{artifact_id} {number}" for artifact_id, number in cycle)
            hint = "A workflow cannot run inside itself."
            found.error("subgraph_cycle", f"The child contains itself: {chain}.", hint)
        elif self._heights[version] > MAX_WORKFLOWS:
            found.error("invalid_type", f"Workflows run inside one another more than {MAX_WORKFLOWS} levels deep here.")
        plan = self._plan(version)
        return None if plan is None else _promises(plan)

    def _plan(self, version: ArtifactVersion) -> Mapping[str, Any] | None:
        plan = self._children.get(version)
        return None if isinstance(plan, Absent) else plan

    def _names(self, version: ArtifactVersion) -> list[tuple[ArtifactVersion, int]]:
        """List what a saved plan names, each with the levels of plans in place that it stands in, itself included."""
        if version not in self._named:
            plan = self._plan(version)
            self._named[version] = [] if plan is None else list(_references(plan))
        return self._named[version]

    def _absent(self, root: ArtifactVersion) -> list[ArtifactVersion]:
        """List what is named from `root` on and does not exist."""
        seen: dict[ArtifactVersion, None] = {root: None}
        for version in (pending := [root]):
            for inner, _ in self._names(version):
                if inner not in seen:
                    seen[inner] = None
                    pending.append(inner)
        return [version for version in seen if self._plan(version) is None]

    def _climb(self, root: ArtifactVersion) -> list[ArtifactVersion] | None:
        """Note how many levels there are from `root` down, or give a chain that comes back to its start."""
        if root in self._heights:
            return None
        ahead = {root: iter(self._names(root))}
        while ahead:
            version = next(reversed(ahead))
            for inner, _ in ahead[version]:
                if inner in ahead:
                    chain = list(ahead)
                    return [*chain[chain.index(inner) :], inner]
                if inner not in self._heights:
                    ahead[inner] = iter(self._names(inner))
                    break
            else:
                del ahead[version]
                below = [levels + self._heights[inner] for inner, levels in self._names(version)]
                self._heights[version] = max(below, default=1)
        return None


def find_child(reference: WorkflowRef, saved: SavedPlans | None, found: Findings) -> Child | None:
    """Look up what a reference names, reporting what is wrong with it. None where it is unknown."""
    if reference.plan is not None:
        return _promises(reference.plan)
    if saved is None:
        return None
    return saved.child((reference.artifact_id or "", reference.version or 0), found)


def _promises(document: Mapping[str, Any]) -> Child | None:
    """Read a child's outcomes and schemas from its plan as written; None where they cannot be read."""
    outcomes: Any = document.get("outcomes", ["ok"])
    input_schema: Any = document.get("input_schema", {})
    output_schema: Any = document.get("output_schema", {})
    if (
        isinstance(outcomes, list)
        and all(isinstance(outcome, str) for outcome in cast("list[Any]", outcomes))
        and isinstance(input_schema, dict | bool)
        and isinstance(output_schema, dict | bool)
    ):
        return Child(
            tuple(cast("list[str]", outcomes)), cast("JsonSchema", input_schema), cast("JsonSchema", output_schema)
        )
    return None


def _references(document: Mapping[str, Any]) -> Iterator[tuple[ArtifactVersion, int]]:
    """Give the saved plans that a plan names, each with the number of plans around it within the document."""
    pending: list[tuple[Any, int]] = [(document, 1)]
    while pending:
        plan, levels = pending.pop()
        steps: Any = cast("dict[str, Any]", plan).get("steps") if isinstance(plan, dict) else None
        for step in cast("dict[str, Any]", steps).values() if isinstance(steps, dict) else ():
            workflow: Any = cast("dict[str, Any]", step).get("workflow") if isinstance(step, dict) else None
            if isinstance(workflow, dict):
                reference = cast("dict[str, Any]", workflow)
                pending.append((reference.get("plan"), levels + 1))
                artifact_id, version = reference.get("artifact_id"), reference.get("version")
                if isinstance(artifact_id, str) and isinstance(version, int):
                    yield (artifact_id, version), levels


def _report_absent(version: ArtifactVersion, absent: Mapping[str, Any] | Absent | None, found: Findings) -> None:
    artifact_id, number = version
    hint = absent.hint if isinstance(absent, Absent) else None
    found.error("unknown_child_artifact", f"There is no version {number} of an artifact `{artifact_id}`.", hint)
