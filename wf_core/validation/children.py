"""Finds the workflows that a plan runs as steps, and what they promise to it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from wf_core.plan import WorkflowRef
from wf_core.schemas import JsonSchema
from wf_core.validation.report import Findings

ArtifactVersion = tuple[str, int]
Children = Mapping[ArtifactVersion, Mapping[str, Any]]
"""Saved plans, those that children name in turn included."""


@dataclass(frozen=True, slots=True)
class Child:
    """What the parent needs to know of a child's plan."""

    outcomes: tuple[str, ...]
    input_schema: JsonSchema
    output_schema: JsonSchema


def find_child(reference: WorkflowRef, children: Children | None, found: Findings) -> Child | None:
    """Look up what a reference names. None where it is unknown.

    Reports an artifact version that should be known and is not, and one that contains itself.
    """
    if reference.plan is not None:
        return _promises(reference.plan)
    if children is None:
        return None
    version = (reference.artifact_id or "", reference.version or 0)
    for unknown in _unknown_versions(version, children):
        _report_unknown(unknown, children, found if unknown == version else found.at("version"))
    cycle = _cycle(version, children)
    if cycle is not None:
        chain = " -> ".join(f"{artifact_id} {number}" for artifact_id, number in cycle)
        found.error("subgraph_cycle", f"The child contains itself: {chain}.", "A workflow cannot run inside itself.")
    return _promises(children[version]) if version in children else None


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


def _references(document: Mapping[str, Any]) -> list[ArtifactVersion]:
    """List the saved plans that a plan names, in plans written in place too."""
    found: list[ArtifactVersion] = []
    pending: list[Any] = [document]
    while pending:
        plan = pending.pop()
        steps: Any = cast("dict[str, Any]", plan).get("steps") if isinstance(plan, dict) else None
        for step in cast("dict[str, Any]", steps).values() if isinstance(steps, dict) else ():
            workflow: Any = cast("dict[str, Any]", step).get("workflow") if isinstance(step, dict) else None
            if isinstance(workflow, dict):
                reference = cast("dict[str, Any]", workflow)
                pending.append(reference.get("plan"))
                artifact_id, version = reference.get("artifact_id"), reference.get("version")
                if isinstance(artifact_id, str) and isinstance(version, int):
                    found.append((artifact_id, version))
    return found


def _unknown_versions(root: ArtifactVersion, children: Children) -> list[ArtifactVersion]:
    """List what is named from `root` on and not known."""
    seen: dict[ArtifactVersion, None] = {root: None}
    for version in (pending := [root]):
        for inner in _references(children[version]) if version in children else ():
            if inner not in seen:
                seen[inner] = None
                pending.append(inner)
    return [version for version in seen if version not in children]


def _cycle(root: ArtifactVersion, children: Children) -> list[ArtifactVersion] | None:
    """Find a chain of references from `root` that comes back to one of its members."""
    chain: list[ArtifactVersion] = []
    done: set[ArtifactVersion] = set()
    pending: list[tuple[ArtifactVersion, int]] = [(root, 0)]
    while pending:
        version, depth = pending.pop()
        done.update(chain[depth:])
        del chain[depth:]
        if version in chain:
            return [*chain[chain.index(version) :], version]
        if version in done or version not in children:
            continue
        chain.append(version)
        pending += [(inner, depth + 1) for inner in _references(children[version])]
    return None


def _report_unknown(version: ArtifactVersion, children: Children, found: Findings) -> None:
    artifact_id, number = version
    message = f"There is no version {number} of an artifact `{artifact_id}`."
    versions = sorted(known for other, known in children if other == artifact_id)
    if versions:
        found.error("unknown_child_artifact", message, f"Its versions are {', '.join(map(str, versions))}.")
    else:
        found.unknown("unknown_child_artifact", message, artifact_id, {other for other, _ in children})
