"""The saved plans that a plan runs as steps, however deep.

What is wrong with them is found by `wf_core.validation`; what a run keeps of them is decided in `pins`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from wf_artifacts.catalog.definitions import Definition
from wf_artifacts.catalog.models import Artifact
from wf_artifacts.catalog.references import ArtifactRef, child_references
from wf_artifacts.catalog.store import CatalogStore
from wf_artifacts.errors import ArtifactNotFound, InvalidId
from wf_core.plan.refs import MAX_VERSION
from wf_core.validation.children import Absent, ArtifactVersion


@dataclass(frozen=True, slots=True)
class Descendants:
    """What a plan reaches through its subgraphs, itself left out."""

    artifacts: tuple[Artifact, ...]
    absent: Mapping[ArtifactVersion, Absent]
    """What is named and does not exist."""

    @property
    def plans(self) -> dict[ArtifactVersion, Mapping[str, Any] | Absent]:
        """Give what is known of each version, as `read_plan` takes it."""
        return {**self.absent, **{(child.artifact_id, child.version): child.plan for child in self.artifacts}}


async def descend(catalog: CatalogStore, plan: Mapping[str, Any]) -> Descendants:
    """Load every saved plan that a plan reaches. The plan itself need not be valid.

    Raises:
        StateError, StoreUnavailable: one of them cannot be read.
    """
    artifacts: dict[ArtifactRef, Artifact] = {}
    absent: dict[ArtifactVersion, Absent] = {}
    ahead = list(child_references(plan))
    for reference in ahead:
        if reference in artifacts or reference in absent or not 1 <= reference.version <= MAX_VERSION:
            continue
        try:
            found = await catalog.load_artifact(reference.artifact_id, reference.version)
        except (ArtifactNotFound, InvalidId) as error:
            absent[reference] = Absent(error.hint)
        else:
            artifacts[reference] = found
            ahead.extend(child_references(found.plan))
    return Descendants(tuple(artifacts.values()), absent)


async def descendants_of(catalog: CatalogStore, definition: Definition) -> Descendants:
    """Give what a definition reaches; what does not exist is asked for, to say what there is.

    Raises:
        StateError, StoreUnavailable: one of them cannot be read.
    """
    found = tuple(child for child in definition.children.values() if child is not None)
    if len(found) < len(definition.children):
        return await descend(catalog, definition.artifact.plan)
    return Descendants(found, {})
