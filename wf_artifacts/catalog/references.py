"""Which artifact versions a plan reaches through its subgraphs.

What follows for deploying and deleting, and what of it is gone.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple, cast

from wf_artifacts.catalog.models import Artifact, Deployment
from wf_artifacts.errors import ArtifactInUse, ArtifactNotFound
from wf_artifacts.storage.findings import Fault, Finding
from wf_core.errors import StateError
from wf_core.ids import ArtifactId


class ArtifactRef(NamedTuple):
    """One version of an artifact."""

    artifact_id: ArtifactId
    version: int


Load = Callable[[ArtifactRef], Artifact | None]
"""Gives a version, or None where it does not exist."""


def child_references(plan: Mapping[str, Any]) -> Iterator[ArtifactRef]:
    """Give every saved version that a plan names as a child, also inside children written in place."""
    steps = plan.get("steps")
    if isinstance(steps, dict):
        for step in cast("dict[str, Any]", steps).values():
            yield from _step_references(step)


def reach(root: ArtifactRef, load: Load) -> dict[ArtifactRef, Artifact | None]:
    """Give a version and every version below it, at any depth; None stands for those that do not exist."""
    found: dict[ArtifactRef, Artifact | None] = {}
    ahead = [root]
    while ahead:
        reference = ahead.pop()
        if reference not in found:
            artifact = found[reference] = load(reference)
            if artifact is not None:
                ahead.extend(child_references(artifact.plan))
    return found


def require_reachable(deployment: Deployment, load: Load) -> None:
    """Accept a deployment whose artifact version exists, with every version below it.

    Raises:
        ArtifactNotFound: naming the version that does not.
    """
    for reference, artifact in reach(_deployed(deployment), load).items():
        if artifact is None:
            raise ArtifactNotFound(reference.artifact_id, reference.version)


def require_unused(references: Iterable[ArtifactRef], deployments: Iterable[Deployment], load: Load) -> None:
    """Accept versions that no deployment reaches.

    Raises:
        ArtifactInUse: naming the first version that one does, and the deployments.
    """
    needed = {deployment.deployment_id: reach(_deployed(deployment), load) for deployment in deployments}
    for reference in references:
        users = sorted(deployment_id for deployment_id, reached in needed.items() if reference in reached)
        if users:
            raise ArtifactInUse(reference.artifact_id, reference.version, used_by=users)


def lacking(document: str, deployment: Deployment, load: Load) -> Fault | None:
    """Report a deployment that needs versions which are gone. One that is damaged is a fault of its own."""
    missing: list[ArtifactRef] = []
    with suppress(StateError):
        missing = [reference for reference, found in reach(_deployed(deployment), load).items() if found is None]
    if not missing:
        return None
    needed = " and ".join(f"version {version} of artifact {artifact_id!r}" for artifact_id, version in missing)
    return Fault(Finding(document, "orphaned", f"It needs {needed}, which is not there.", None))


def _deployed(deployment: Deployment) -> ArtifactRef:
    return ArtifactRef(deployment.artifact_id, deployment.artifact_version)


def _step_references(step: Any) -> Iterator[ArtifactRef]:
    match step:
        case {"type": "subgraph", "workflow": {"artifact_id": str(artifact_id), "version": int(version)}}:
            yield ArtifactRef(ArtifactId(artifact_id), version)
        case {"type": "subgraph", "workflow": {"plan": {**plan}}}:
            yield from child_references(plan)
        case _:
            return
