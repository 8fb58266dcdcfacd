"""The catalog of one process, gone when it ends. The simplest store that keeps the contract.

Records are kept as the documents that other backends store, so a value that is changed after it was saved, or after it
was loaded, changes nothing here, and what is no JSON is refused here too.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from wf_artifacts.catalog.definitions import Definition, Definitions, StoredVersion
from wf_artifacts.catalog.models import ARTIFACT, DEPLOYMENT, Artifact, ArtifactListing, Deployment
from wf_artifacts.catalog.references import ArtifactRef, require_reachable, require_unused
from wf_artifacts.catalog.rules import first_version, require_ids, require_restorable, taking_the_place_of
from wf_artifacts.errors import ArtifactNotFound, DeploymentNotFound
from wf_artifacts.storage.identifiers import require_id
from wf_artifacts.storage.pages import Page, ascending, collect
from wf_core.ids import ArtifactId, DeploymentId, close_matches


class MemoryCatalog:
    """Keeps artifacts and deployments in dictionaries."""

    def __init__(self) -> None:
        self._versions: dict[ArtifactId, dict[int, bytes]] = {}
        self._last: dict[ArtifactId, int] = {}
        """The highest version number that was ever given."""
        self._deployments: dict[DeploymentId, bytes] = {}
        self._definitions = Definitions()

    async def save_artifact(
        self,
        artifact_id: ArtifactId,
        plan: Mapping[str, Any],
        *,
        description: str,
        required_capabilities: Sequence[str],
        now: datetime,
    ) -> Artifact:
        draft = first_version(
            artifact_id, plan, description=description, required_capabilities=required_capabilities, now=now
        )
        versions = self._versions.setdefault(artifact_id, {})
        for version in sorted(versions, reverse=True):
            earlier = ARTIFACT.decode(versions[version], artifact_id)
            if earlier.digest == draft.digest:
                return earlier
        artifact = draft.model_copy(update={"version": self._last.get(artifact_id, 0) + 1})
        versions[artifact.version] = ARTIFACT.encode(artifact)
        self._last[artifact_id] = artifact.version
        return artifact

    async def load_artifact(self, artifact_id: ArtifactId, version: int | None = None) -> Artifact:
        require_id("an artifact", artifact_id)
        newest = max(self._versions.get(artifact_id, ()), default=0)
        artifact = self._artifact(ArtifactRef(artifact_id, newest if version is None else version))
        if artifact is None:
            raise self._no_artifact(artifact_id, version)
        return artifact

    async def list_artifacts(self, *, cursor: str | None = None, limit: int) -> Page[ArtifactListing]:
        return collect("artifacts", ascending("artifacts", self._versions, cursor), self._listing, limit)

    async def delete_artifact(self, artifact_id: ArtifactId, version: int | None = None) -> None:
        require_id("an artifact", artifact_id)
        versions = self._versions.get(artifact_id, {})
        doomed = [number for number in versions if version in {None, number}]
        if not doomed:
            raise self._no_artifact(artifact_id, version)
        deployments = map(self._deployment, self._deployments)
        require_unused((ArtifactRef(artifact_id, number) for number in doomed), deployments, self._artifact)
        for number in doomed:
            del versions[number]

    async def last_versions(self) -> Mapping[ArtifactId, int]:
        return dict(self._last)

    async def restore_artifact(self, artifact_id: ArtifactId, versions: Sequence[Artifact], *, last: int) -> None:
        require_restorable(artifact_id, versions, last, known=self._last.get(artifact_id, 0))
        self._versions[artifact_id] = {artifact.version: ARTIFACT.encode(artifact) for artifact in versions}
        self._last[artifact_id] = last

    async def save_deployment(self, deployment: Deployment, *, replace: bool) -> Deployment:
        require_ids(deployment)
        taken = deployment.deployment_id in self._deployments
        earlier = self._deployment(deployment.deployment_id) if taken else None
        deployment = taking_the_place_of(earlier, deployment, replace=replace)
        require_reachable(deployment, self._artifact)
        self._deployments[deployment.deployment_id] = DEPLOYMENT.encode(deployment)
        return deployment

    async def load_deployment(self, deployment_id: DeploymentId) -> Deployment:
        self._require_deployment(deployment_id)
        return self._deployment(deployment_id)

    async def load_definition(self, deployment_id: DeploymentId) -> Definition:
        deployment = await self.load_deployment(deployment_id)
        definition = self._definitions.of(deployment, self._stored)
        if definition is None:
            raise self._no_artifact(deployment.artifact_id, deployment.artifact_version)
        return definition

    async def list_deployments(self, *, cursor: str | None = None, limit: int) -> Page[Deployment]:
        return collect("deployments", ascending("deployments", self._deployments, cursor), self._deployment, limit)

    async def delete_deployment(self, deployment_id: DeploymentId) -> None:
        self._require_deployment(deployment_id)
        del self._deployments[deployment_id]

    def _stored(self, reference: ArtifactRef) -> StoredVersion | None:
        data = self._versions.get(reference.artifact_id, {}).get(reference.version)
        return None if data is None else StoredVersion(reference.artifact_id, data)

    def _artifact(self, reference: ArtifactRef) -> Artifact | None:
        stored = self._stored(reference)
        return None if stored is None else ARTIFACT.decode(stored.data, stored.name)

    def _listing(self, artifact_id: ArtifactId) -> ArtifactListing | None:
        versions = self._versions[artifact_id]
        if not versions:
            return None
        newest = ARTIFACT.decode(versions[max(versions)], artifact_id)
        return ArtifactListing(newest=newest, versions=tuple(sorted(versions)))

    def _no_artifact(self, artifact_id: ArtifactId, version: int | None) -> ArtifactNotFound:
        versions = sorted(self._versions.get(artifact_id, ()))
        if versions:
            return ArtifactNotFound(artifact_id, version, versions=versions)
        known = [known for known, versions in self._versions.items() if versions]
        return ArtifactNotFound(artifact_id, close=close_matches(artifact_id, known))

    def _deployment(self, deployment_id: DeploymentId) -> Deployment:
        return DEPLOYMENT.decode(self._deployments[deployment_id], deployment_id)

    def _require_deployment(self, deployment_id: DeploymentId) -> None:
        require_id("a deployment", deployment_id)
        if deployment_id not in self._deployments:
            raise DeploymentNotFound(deployment_id, close=close_matches(deployment_id, self._deployments))
