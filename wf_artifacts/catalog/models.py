"""What users save: numbered versions of plans, and deployments that bind them to sources."""

from typing import Any, Literal

from pydantic import Field

from wf_artifacts.storage.documents import Format
from wf_artifacts.storage.records import Array, Record, Time
from wf_core.ids import ArtifactId, DeploymentId

Durability = Literal["steps", "stops"]
"""What a crash leaves of a run: every step, or where it stood at its last stop."""


class Artifact(Record):
    """One version of a plan. Never changed after it was saved."""

    artifact_id: ArtifactId
    version: int = Field(ge=1)
    digest: str
    """`json_digest` of the plan."""
    plan: dict[str, Any]
    """As it was saved, not as it was understood."""
    description: str
    required_capabilities: Array[str]
    """Logical `source.capability` names."""
    created_at: Time


class Deployment(Record):
    """An artifact version bound to concrete sources."""

    deployment_id: DeploymentId
    artifact_id: ArtifactId
    artifact_version: int = Field(ge=1)
    bindings: dict[str, str]
    """Logical source -> source name. A logical source that is not bound means the source of that name."""
    call_policy: dict[str, Any] | None
    durability: Durability = "steps"
    created_at: Time
    """When the id was first used; replacing keeps it."""
    updated_at: Time


class ArtifactListing(Record):
    """One line of the list of artifacts."""

    newest: Artifact
    versions: Array[int]
    """Every version that was not deleted, ascending."""


ARTIFACT = Format("wf.artifact", 2, Artifact, plain=1)
DEPLOYMENT = Format("wf.deployment", 2, Deployment, plain=1)
