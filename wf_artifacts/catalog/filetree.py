"""The catalog as files, shared by every process that opens the home. Where they are is in `files.tree`."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from wf_artifacts.catalog.definitions import Definition, Definitions
from wf_artifacts.catalog.files.examination import CatalogExamination
from wf_artifacts.catalog.files.tree import NUMBERS, CatalogTree, Numbers
from wf_artifacts.catalog.models import ARTIFACT, DEPLOYMENT, Artifact, ArtifactListing, Deployment
from wf_artifacts.catalog.references import ArtifactRef, require_reachable, require_unused
from wf_artifacts.catalog.rules import first_version, require_ids, require_restorable, taking_the_place_of
from wf_artifacts.errors import ArtifactNotFound, DeploymentNotFound
from wf_artifacts.storage import atomic
from wf_artifacts.storage.findings import Fault, LostAndFound
from wf_artifacts.storage.home import FileTreeStore, Home, in_home
from wf_artifacts.storage.identifiers import require_id
from wf_artifacts.storage.pages import Page, ascending, collect
from wf_core.errors import StateError
from wf_core.ids import ArtifactId, DeploymentId, close_matches


class FileTreeCatalog(FileTreeStore):
    """Keeps artifacts and deployments in one file each."""

    def __init__(self, home: Home) -> None:
        super().__init__(home)
        self._tree = CatalogTree(home)
        self._definitions = Definitions()

    @in_home
    def save_artifact(
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
        with self._changing(self._tree.artifacts / artifact_id):
            earlier = self._find(artifact_id, self._tree.versions(artifact_id), draft.digest)
            if earlier is not None:
                return earlier
            reference = ArtifactRef(artifact_id, self._tree.last_version(artifact_id) + 1)
            artifact = draft.model_copy(update={"version": reference.version})
            atomic.replace_file(self._tree.artifact_path(reference), ARTIFACT.encode(artifact))
            return artifact

    @in_home
    def load_artifact(self, artifact_id: ArtifactId, version: int | None = None) -> Artifact:
        require_id("an artifact", artifact_id)
        newest = self._require_versions(artifact_id, version)[-1]
        artifact = self._tree.artifact(ArtifactRef(artifact_id, newest))
        if artifact is None:
            raise self._no_artifact(artifact_id, version)
        return artifact

    @in_home
    def list_artifacts(self, *, cursor: str | None = None, limit: int) -> Page[ArtifactListing]:
        return collect("artifacts", ascending("artifacts", self._tree.artifact_ids(), cursor), self._listing, limit)

    @in_home
    def delete_artifact(self, artifact_id: ArtifactId, version: int | None = None) -> None:
        require_id("an artifact", artifact_id)
        self._require_versions(artifact_id, version)
        folder = self._tree.artifacts / artifact_id
        with self._changing(folder):
            doomed = self._require_versions(artifact_id, version)
            references = [ArtifactRef(artifact_id, number) for number in doomed]
            require_unused(references, self._tree.every_deployment(), self._tree.artifact)
            numbers = self._tree.numbers(artifact_id)
            last = max(numbers.last, doomed[-1])
            # The numbers first: a crash after them loses no number, and takes back every version at once or none.
            taken_back = doomed[-1] if version is None else numbers.deleted_through
            self._put_numbers(artifact_id, Numbers(last=last, deleted_through=taken_back))
            for reference in references:
                atomic.remove_file(self._tree.artifact_path(reference))

    @in_home
    def last_versions(self) -> Mapping[ArtifactId, int]:
        return {artifact_id: self._tree.last_version(artifact_id) for artifact_id in self._tree.artifact_ids()}

    @in_home
    def restore_artifact(self, artifact_id: ArtifactId, versions: Sequence[Artifact], *, last: int) -> None:
        require_id("an artifact", artifact_id)
        with self._changing(self._tree.artifacts / artifact_id):
            known = self._tree.last_version(artifact_id)
            require_restorable(artifact_id, versions, last, known=known)
            # The numbers first and last: readers see no version before all are there.
            self._put_numbers(artifact_id, Numbers(last=last, deleted_through=last))
            for artifact in versions:
                path = self._tree.artifact_path(ArtifactRef(artifact_id, artifact.version))
                atomic.replace_file(path, ARTIFACT.encode(artifact))
            self._put_numbers(artifact_id, Numbers(last=last, deleted_through=0))

    @in_home
    def save_deployment(self, deployment: Deployment, *, replace: bool) -> Deployment:
        require_ids(deployment)
        with self._changing(self._tree.deployments):
            earlier = self._tree.deployment(deployment.deployment_id)
            deployment = taking_the_place_of(earlier, deployment, replace=replace)
            require_reachable(deployment, self._tree.artifact)
            atomic.replace_file(self._tree.deployment_path(deployment.deployment_id), DEPLOYMENT.encode(deployment))
            return deployment

    @in_home
    def load_deployment(self, deployment_id: DeploymentId) -> Deployment:
        return self._deployment(deployment_id)

    @in_home
    def load_definition(self, deployment_id: DeploymentId) -> Definition:
        deployment = self._deployment(deployment_id)
        definition = self._definitions.of(deployment, self._tree.stored)
        if definition is None:
            raise self._no_artifact(deployment.artifact_id, deployment.artifact_version)
        return definition

    @in_home
    def list_deployments(self, *, cursor: str | None = None, limit: int) -> Page[Deployment]:
        ids = ascending("deployments", self._tree.deployment_ids(), cursor)
        return collect("deployments", ids, self._tree.deployment, limit)

    @in_home
    def delete_deployment(self, deployment_id: DeploymentId) -> None:
        require_id("a deployment", deployment_id)
        path = self._tree.deployment_path(deployment_id)
        if not path.exists():
            raise self._no_deployment(deployment_id)
        with self._changing(self._tree.deployments):
            if not path.exists():
                raise self._no_deployment(deployment_id)
            atomic.remove_file(path)

    def faults(self) -> Iterator[Fault]:
        """Look at everything that the catalog keeps."""
        return CatalogExamination(self._tree, LostAndFound(self.home)).faults()

    def _changing(self, folder: Path) -> AbstractContextManager[None]:
        """Change the catalog. One lock for all of it: deleting an artifact looks at every deployment."""
        return self.home.changing(folder, lock=self._tree.lock)

    def _put_numbers(self, artifact_id: ArtifactId, numbers: Numbers) -> None:
        atomic.replace_file(self._tree.numbers_path(artifact_id), NUMBERS.encode(numbers))

    def _require_versions(self, artifact_id: ArtifactId, version: int | None) -> list[int]:
        """Give the version that is meant, or all, ascending."""
        wanted = [number for number in self._tree.versions(artifact_id) if version in {None, number}]
        if not wanted:
            raise self._no_artifact(artifact_id, version)
        return wanted

    def _deployment(self, deployment_id: DeploymentId) -> Deployment:
        require_id("a deployment", deployment_id)
        deployment = self._tree.deployment(deployment_id)
        if deployment is None:
            raise self._no_deployment(deployment_id)
        return deployment

    def _find(self, artifact_id: ArtifactId, versions: Sequence[int], digest: str) -> Artifact | None:
        """Give the version whose plan has the digest. One that cannot be read is passed over."""
        for version in reversed(versions):
            with suppress(StateError):
                artifact = self._tree.artifact(ArtifactRef(artifact_id, version))
                if artifact is not None and artifact.digest == digest:
                    return artifact
        return None

    def _listing(self, artifact_id: ArtifactId) -> ArtifactListing | None:
        versions = self._tree.versions(artifact_id)
        newest = self._tree.artifact(ArtifactRef(artifact_id, versions[-1])) if versions else None
        return ArtifactListing(newest=newest, versions=tuple(versions)) if newest else None

    def _no_artifact(self, artifact_id: ArtifactId, version: int | None) -> ArtifactNotFound:
        versions = self._tree.versions(artifact_id)
        if versions:
            return ArtifactNotFound(artifact_id, version, versions=versions)
        close = close_matches(artifact_id, self._tree.artifact_ids())
        return ArtifactNotFound(artifact_id, close=[near for near in close if self._tree.versions(ArtifactId(near))])

    def _no_deployment(self, deployment_id: DeploymentId) -> DeploymentNotFound:
        return DeploymentNotFound(deployment_id, close=close_matches(deployment_id, self._tree.deployment_ids()))
