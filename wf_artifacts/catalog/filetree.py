"""The catalog as files, shared by every process that opens the home.

artifacts/<artifact_id>/000001.json    one version
artifacts/<artifact_id>/numbers.json   which numbers were given and taken back; written by the first deletion
artifacts/.lock                        held while anything in the catalog changes
deployments/<deployment_id>.json
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import Field

from wf_artifacts.catalog.models import ARTIFACT, DEPLOYMENT, Artifact, ArtifactListing, Deployment
from wf_artifacts.catalog.references import ArtifactRef, require_reachable, require_unused
from wf_artifacts.errors import ArtifactNotFound, DeploymentExists, DeploymentNotFound
from wf_artifacts.storage import atomic
from wf_artifacts.storage.digests import json_digest
from wf_artifacts.storage.documents import Format
from wf_artifacts.storage.home import FileTreeStore, Home
from wf_artifacts.storage.identifiers import require_id
from wf_artifacts.storage.pages import Page, ascending, collect
from wf_artifacts.storage.records import Record
from wf_artifacts.storage.threads import in_thread
from wf_core import jsonvalue
from wf_core.errors import StateError
from wf_core.ids import ArtifactId, DeploymentId, close_matches, is_id


class Numbers(Record):
    """Which version numbers of an artifact must not be given again."""

    last: int = Field(ge=0)
    """The highest number that was ever given."""
    deleted_through: int = Field(ge=0)
    """Every version up to this one is deleted, also where a crash left its file."""


NUMBERS = Format("wf.artifact_numbers", 1, Numbers)

_NUMBERS_FILE = "numbers.json"
_NO_NUMBERS = Numbers(last=0, deleted_through=0)
_VERSION_FILE = re.compile(r"(\d{6,})\.json")


class FileTreeCatalog(FileTreeStore):
    """Keeps artifacts and deployments in one file each."""

    def __init__(self, home: Home) -> None:
        super().__init__(home)
        self._artifacts = home.root / "artifacts"
        self._deployments = home.root / "deployments"

    @in_thread
    def save_artifact(
        self,
        artifact_id: ArtifactId,
        plan: Mapping[str, Any],
        *,
        description: str,
        required_capabilities: Sequence[str],
        now: datetime,
    ) -> Artifact:
        require_id("an artifact", artifact_id)
        plan = dict(plan)
        jsonvalue.check(plan, "plan")
        digest = json_digest(plan)
        with self._changing(self._artifacts / artifact_id):
            versions = self._versions(artifact_id)
            earlier = self._find(artifact_id, versions, digest)
            if earlier is not None:
                return earlier
            artifact = Artifact(
                artifact_id=artifact_id,
                version=max([self._numbers(artifact_id).last, *versions]) + 1,
                digest=digest,
                plan=plan,
                description=description,
                required_capabilities=tuple(required_capabilities),
                created_at=now,
            )
            atomic.replace_file(self._artifact_path(artifact_id, artifact.version), ARTIFACT.encode(artifact))
            return artifact

    @in_thread
    def load_artifact(self, artifact_id: ArtifactId, version: int | None = None) -> Artifact:
        require_id("an artifact", artifact_id)
        newest = self._require_versions(artifact_id, version)[-1]
        artifact = self._artifact(ArtifactRef(artifact_id, newest))
        if artifact is None:
            raise self._no_artifact(artifact_id, version)
        return artifact

    @in_thread
    def list_artifacts(self, *, cursor: str | None = None, limit: int) -> Page[ArtifactListing]:
        return collect("artifacts", ascending("artifacts", self._artifact_ids(), cursor), self._listing, limit)

    @in_thread
    def delete_artifact(self, artifact_id: ArtifactId, version: int | None = None) -> None:
        require_id("an artifact", artifact_id)
        self._require_versions(artifact_id, version)
        folder = self._artifacts / artifact_id
        with self._changing(folder):
            doomed = self._require_versions(artifact_id, version)
            references = (ArtifactRef(artifact_id, number) for number in doomed)
            require_unused(references, self._every_deployment(), self._artifact)
            numbers = self._numbers(artifact_id)
            last = max(numbers.last, doomed[-1])
            # The numbers first: a crash after them loses no number, and takes back every version at once or none.
            taken_back = doomed[-1] if version is None else numbers.deleted_through
            atomic.replace_file(folder / _NUMBERS_FILE, NUMBERS.encode(Numbers(last=last, deleted_through=taken_back)))
            for number in doomed:
                atomic.remove_file(self._artifact_path(artifact_id, number))

    @in_thread
    def save_deployment(self, deployment: Deployment, *, replace: bool) -> Deployment:
        require_id("a deployment", deployment.deployment_id)
        require_id("an artifact", deployment.artifact_id)
        with self._changing(self._deployments):
            earlier = self._deployment(deployment.deployment_id)
            if earlier is not None:
                if not replace:
                    raise DeploymentExists(deployment.deployment_id)
                deployment = deployment.model_copy(update={"created_at": earlier.created_at})
            require_reachable(deployment, self._artifact)
            atomic.replace_file(self._deployment_path(deployment.deployment_id), DEPLOYMENT.encode(deployment))
            return deployment

    @in_thread
    def load_deployment(self, deployment_id: DeploymentId) -> Deployment:
        require_id("a deployment", deployment_id)
        deployment = self._deployment(deployment_id)
        if deployment is None:
            raise self._no_deployment(deployment_id)
        return deployment

    @in_thread
    def list_deployments(self, *, cursor: str | None = None, limit: int) -> Page[Deployment]:
        ids = ascending("deployments", self._deployment_ids(), cursor)
        return collect("deployments", ids, self._deployment, limit)

    @in_thread
    def delete_deployment(self, deployment_id: DeploymentId) -> None:
        require_id("a deployment", deployment_id)
        path = self._deployment_path(deployment_id)
        if not path.exists():
            raise self._no_deployment(deployment_id)
        with self._changing(self._deployments):
            if not path.exists():
                raise self._no_deployment(deployment_id)
            atomic.remove_file(path)

    def _changing(self, folder: Path) -> AbstractContextManager[None]:
        """Change the catalog. One lock for all of it: deleting an artifact looks at every deployment."""
        return self.home.changing(folder, lock=self._artifacts / ".lock")

    def _artifact_path(self, artifact_id: ArtifactId, version: int) -> Path:
        return self._artifacts / artifact_id / f"{version:06}.json"

    def _deployment_path(self, deployment_id: DeploymentId) -> Path:
        return self._deployments / f"{deployment_id}.json"

    def _artifact_ids(self) -> list[ArtifactId]:
        return [ArtifactId(name) for name in self.home.folders(self._artifacts) if is_id(name)]

    def _deployment_ids(self) -> list[DeploymentId]:
        names = (name.removesuffix(".json") for name in self.home.files(self._deployments) if name.endswith(".json"))
        return [DeploymentId(name) for name in names if is_id(name)]

    def _numbers(self, artifact_id: ArtifactId) -> Numbers:
        return self.home.load(self._artifacts / artifact_id / _NUMBERS_FILE, NUMBERS) or _NO_NUMBERS

    def _versions(self, artifact_id: ArtifactId) -> list[int]:
        """Give the versions that there are, ascending."""
        matches = map(_VERSION_FILE.fullmatch, self.home.files(self._artifacts / artifact_id))
        deleted_through = self._numbers(artifact_id).deleted_through
        return sorted(number for match in matches if match and (number := int(match[1])) > deleted_through)

    def _require_versions(self, artifact_id: ArtifactId, version: int | None) -> list[int]:
        """Give the version that is meant, or all, ascending."""
        wanted = [number for number in self._versions(artifact_id) if version in {None, number}]
        if not wanted:
            raise self._no_artifact(artifact_id, version)
        return wanted

    def _artifact(self, reference: ArtifactRef) -> Artifact | None:
        artifact_id, version = reference
        # A child's id comes from a plan, and nobody has checked it.
        if not is_id(artifact_id) or version <= self._numbers(artifact_id).deleted_through:
            return None
        path = self._artifact_path(artifact_id, version)
        return self.home.load(path, ARTIFACT, artifact_id=artifact_id, version=version)

    def _find(self, artifact_id: ArtifactId, versions: Sequence[int], digest: str) -> Artifact | None:
        """Give the version whose plan has the digest. One that cannot be read is passed over."""
        for version in reversed(versions):
            with suppress(StateError):
                artifact = self._artifact(ArtifactRef(artifact_id, version))
                if artifact is not None and artifact.digest == digest:
                    return artifact
        return None

    def _listing(self, artifact_id: ArtifactId) -> ArtifactListing | None:
        versions = self._versions(artifact_id)
        newest = self._artifact(ArtifactRef(artifact_id, versions[-1])) if versions else None
        return ArtifactListing(newest=newest, versions=tuple(versions)) if newest else None

    def _no_artifact(self, artifact_id: ArtifactId, version: int | None) -> ArtifactNotFound:
        versions = self._versions(artifact_id)
        if versions:
            return ArtifactNotFound(artifact_id, version, versions=versions)
        close = close_matches(artifact_id, self._artifact_ids())
        return ArtifactNotFound(artifact_id, close=[near for near in close if self._versions(ArtifactId(near))])

    def _deployment(self, deployment_id: DeploymentId) -> Deployment | None:
        return self.home.load(self._deployment_path(deployment_id), DEPLOYMENT, deployment_id=deployment_id)

    def _every_deployment(self) -> Iterator[Deployment]:
        for deployment_id in self._deployment_ids():
            deployment = self._deployment(deployment_id)
            if deployment is not None:
                yield deployment

    def _no_deployment(self, deployment_id: DeploymentId) -> DeploymentNotFound:
        return DeploymentNotFound(deployment_id, close=close_matches(deployment_id, self._deployment_ids()))
