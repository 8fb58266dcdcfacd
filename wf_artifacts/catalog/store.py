"""The contract of every store of artifacts and deployments.

Ids are checked before anything else. Every change is one step: a reader in any process, also after a crash, sees the
state before it or after it. What a method returned from is stored.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from wf_artifacts.catalog.definitions import Definition
from wf_artifacts.catalog.models import Artifact, ArtifactListing, Deployment
from wf_artifacts.storage.pages import Page
from wf_core.ids import ArtifactId, DeploymentId


class CatalogStore(Protocol):
    """Keeps artifacts and deployments.

    Every method may raise:
        InvalidId: a text that cannot be an id.
        StateCorrupt, FormatTooNew: a stored document that it needs cannot be read; the document was left alone.
        StoreUnavailable, StoreFull: nothing was changed.
    """

    async def save_artifact(
        self,
        artifact_id: ArtifactId,
        plan: Mapping[str, Any],
        *,
        description: str,
        required_capabilities: Sequence[str],
        now: datetime,
    ) -> Artifact:
        """Save a plan under the next version number of the artifact.

        A plan that equals, as JSON, one of the versions gives that version as it is, description included. Numbers
        count from 1 and are never given twice, not even after the versions were deleted.

        Raises:
            NotJson: the plan is no strict JSON.
        """
        ...

    async def load_artifact(self, artifact_id: ArtifactId, version: int | None = None) -> Artifact:
        """Give one version, or the newest that was not deleted.

        Raises:
            ArtifactNotFound: with close ids, or with the versions that there are.
        """
        ...

    async def list_artifacts(self, *, cursor: str | None = None, limit: int) -> Page[ArtifactListing]:
        """Give up to `limit` artifacts by id. One whose newest version cannot be read is in `Page.damaged`.

        Raises:
            InvalidCursor: the cursor is not from this list.
        """
        ...

    async def delete_artifact(self, artifact_id: ArtifactId, version: int | None = None) -> None:
        """Delete one version, or all of them.

        Raises:
            ArtifactNotFound: nothing was deleted.
            ArtifactInUse: a deployment needs a version, for itself or as a child of what it deploys, whatever the
                depth; nothing was deleted.
        """
        ...

    async def last_versions(self) -> Mapping[ArtifactId, int]:
        """Give the highest version number that each artifact was ever given, also if every version was deleted."""
        ...

    async def restore_artifact(self, artifact_id: ArtifactId, versions: Sequence[Artifact], *, last: int) -> None:
        """Bring an artifact from another store: its versions as they are, and the highest number that it was given.

        Raises:
            ValueError: an artifact of that id was saved here before, or the versions do not fit; nothing was stored.
        """
        ...

    async def save_deployment(self, deployment: Deployment, *, replace: bool) -> Deployment:
        """Save a deployment, and give it as it is stored: replacing keeps the earlier `created_at`.

        Its artifact version and every child version below it exist when this returns, also when another process
        deletes artifacts at the same time.

        Raises:
            ArtifactNotFound: the artifact version, or a child below it, does not exist; nothing was saved.
            DeploymentExists: the id is taken and `replace` is false.
        """
        ...

    async def load_deployment(self, deployment_id: DeploymentId) -> Deployment:
        """Give a deployment.

        Raises:
            DeploymentNotFound: with close ids.
        """
        ...

    async def load_definition(self, deployment_id: DeploymentId) -> Definition:
        """Give a deployment with every version that it runs, as they are stored now. What is given is shared.

        Raises:
            DeploymentNotFound: with close ids.
            ArtifactNotFound: its artifact version does not exist. A child that does not is None in what is given.
        """
        ...

    async def list_deployments(self, *, cursor: str | None = None, limit: int) -> Page[Deployment]:
        """Give up to `limit` deployments by id. One that cannot be read is in `Page.damaged`.

        Raises:
            InvalidCursor: the cursor is not from this list.
        """
        ...

    async def delete_deployment(self, deployment_id: DeploymentId) -> None:
        """Delete a deployment. The runs that it started are not touched.

        Raises:
            DeploymentNotFound: with close ids.
        """
        ...
