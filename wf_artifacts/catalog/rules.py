"""How every store of artifacts and deployments judges what is to be saved, and what it reads."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from wf_artifacts.catalog.models import Artifact, Deployment
from wf_artifacts.errors import DeploymentExists
from wf_artifacts.storage.digests import json_digest
from wf_artifacts.storage.documents import corrupt
from wf_artifacts.storage.identifiers import require_id
from wf_core.ids import ArtifactId
from wf_core.jsonvalue import check


def first_version(
    artifact_id: ArtifactId,
    plan: Mapping[str, Any],
    *,
    description: str,
    required_capabilities: Sequence[str],
    now: datetime,
) -> Artifact:
    """Make an artifact of a plan, as its first version; a store gives it the number that is next.

    Raises:
        InvalidId: the id cannot be one.
        NotJson: the plan is no strict JSON.
    """
    require_id("an artifact", artifact_id)
    plan = dict(plan)
    check(plan, "plan")
    return Artifact(
        artifact_id=artifact_id,
        version=1,
        digest=json_digest(plan),
        plan=plan,
        description=description,
        required_capabilities=tuple(required_capabilities),
        created_at=now,
    )


def require_restorable(artifact_id: ArtifactId, versions: Sequence[Artifact], last: int, *, known: int) -> None:
    """Accept an artifact from another store, if no version of it was ever saved here; `known` is the highest.

    Raises:
        InvalidId: the id cannot be one.
        ValueError: it was saved before, or the versions are another's or beyond the highest number.
    """
    require_id("an artifact", artifact_id)
    if known:
        raise ValueError(f"versions of {artifact_id} were saved before")
    if any(version.artifact_id != artifact_id or version.version > last for version in versions):
        raise ValueError(f"these are no versions of {artifact_id} up to {last}")


def require_saved_plan(artifact: Artifact, document: str) -> None:
    """Accept a version as it was read, if its plan is the one that was saved; `document` names it in errors.

    Raises:
        StateCorrupt: the plan is not that of the version's digest.
    """
    if json_digest(artifact.plan) != artifact.digest:
        raise corrupt(document, "its plan is not the one that was saved")


def require_ids(deployment: Deployment) -> None:
    """Accept the ids in a deployment.

    Raises:
        InvalidId: one of them cannot be one.
    """
    require_id("a deployment", deployment.deployment_id)
    require_id("an artifact", deployment.artifact_id)


def taking_the_place_of(earlier: Deployment | None, deployment: Deployment, *, replace: bool) -> Deployment:
    """Give a deployment as it is stored where its id may be taken: the id stays as old as it is.

    Raises:
        DeploymentExists: the id is taken and `replace` is false.
    """
    if earlier is None:
        return deployment
    if not replace:
        raise DeploymentExists(deployment.deployment_id)
    return deployment.model_copy(update={"created_at": earlier.created_at})
