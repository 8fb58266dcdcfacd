"""The catalog on disk, for reading.

artifacts/<artifact_id>/000001.json    one version
artifacts/<artifact_id>/numbers.json   which numbers were given and taken back; written by the first deletion
artifacts/.lock                        held while anything in the catalog changes
deployments/<deployment_id>.json
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pydantic import Field

from wf_artifacts.catalog.definitions import StoredVersion
from wf_artifacts.catalog.models import ARTIFACT, DEPLOYMENT, Artifact, Deployment
from wf_artifacts.catalog.references import ArtifactRef
from wf_artifacts.storage.documents import Format
from wf_artifacts.storage.home import Home
from wf_artifacts.storage.records import Record
from wf_core.ids import ArtifactId, DeploymentId, is_id


class Numbers(Record):
    """Which version numbers of an artifact must not be given again."""

    last: int = Field(ge=0)
    """The highest number that was ever given."""
    deleted_through: int = Field(ge=0)
    """Every version up to this one is deleted, also where a crash left its file."""


NUMBERS = Format("wf.artifact_numbers", 2, Numbers, plain=1)

NUMBERS_FILE: Final = "numbers.json"
VERSION_FILE: Final = re.compile(r"(\d{6,})\.json")
_NO_NUMBERS: Final = Numbers(last=0, deleted_through=0)


class CatalogTree:
    """Where everything in the catalog is."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.artifacts = home.room("artifacts")
        self.deployments = home.room("deployments")

    @property
    def lock(self) -> Path:
        return self.artifacts / ".lock"

    def artifact_path(self, reference: ArtifactRef) -> Path:
        return self.artifacts / reference.artifact_id / f"{reference.version:06}.json"

    def numbers_path(self, artifact_id: ArtifactId) -> Path:
        return self.artifacts / artifact_id / NUMBERS_FILE

    def deployment_path(self, deployment_id: DeploymentId) -> Path:
        return self.deployments / f"{deployment_id}.json"

    def artifact_ids(self) -> list[ArtifactId]:
        """Give every artifact that has a folder, in no order. It need not have a version."""
        return [ArtifactId(name) for name in self.home.folders(self.artifacts) if is_id(name)]

    def deployment_ids(self) -> list[DeploymentId]:
        """Give every deployment, in no order."""
        names = (name.removesuffix(".json") for name in self.home.files(self.deployments) if name.endswith(".json"))
        return [DeploymentId(name) for name in names if is_id(name)]

    def numbers(self, artifact_id: ArtifactId) -> Numbers:
        """Give the numbers of an artifact."""
        return self.home.load(self.numbers_path(artifact_id), NUMBERS) or _NO_NUMBERS

    def given(self, artifact_id: ArtifactId) -> list[int]:
        """Give the versions that have a file, ascending."""
        matches = map(VERSION_FILE.fullmatch, self.home.files(self.artifacts / artifact_id))
        return sorted(int(match[1]) for match in matches if match)

    def versions(self, artifact_id: ArtifactId) -> list[int]:
        """Give the versions that there are, ascending."""
        deleted_through = self.numbers(artifact_id).deleted_through
        return [number for number in self.given(artifact_id) if number > deleted_through]

    def last_version(self, artifact_id: ArtifactId) -> int:
        """Give the highest number that was ever given; 0 where none was."""
        return max([self.numbers(artifact_id).last, *self.versions(artifact_id)])

    def stored(self, reference: ArtifactRef) -> StoredVersion | None:
        """Read the document of a version. The id may be any text: that of a child comes from a plan, unchecked."""
        artifact_id, version = reference
        if not is_id(artifact_id) or version <= self.numbers(artifact_id).deleted_through:
            return None
        path = self.artifact_path(reference)
        data = self.home.read(path)
        return None if data is None else StoredVersion(self.home.document(path), data)

    def artifact(self, reference: ArtifactRef) -> Artifact | None:
        """Read a version, as `stored` does."""
        stored = self.stored(reference)
        return None if stored is None else ARTIFACT.decode(stored.data, stored.name, **reference._asdict())

    def deployment(self, deployment_id: DeploymentId) -> Deployment | None:
        """Read a deployment."""
        return self.home.load(self.deployment_path(deployment_id), DEPLOYMENT, deployment_id=deployment_id)

    def every_deployment(self) -> Iterator[Deployment]:
        """Read all deployments."""
        for deployment_id in self.deployment_ids():
            deployment = self.deployment(deployment_id)
            if deployment is not None:
                yield deployment
