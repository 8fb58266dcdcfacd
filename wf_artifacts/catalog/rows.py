"""Rows of the catalog as records, and how errors name them."""

from wf_artifacts.catalog.definitions import StoredVersion
from wf_artifacts.catalog.models import ARTIFACT, DEPLOYMENT, Artifact, Deployment
from wf_artifacts.catalog.references import ArtifactRef
from wf_artifacts.storage.connections import Row
from wf_artifacts.storage.database import Transaction
from wf_artifacts.storage.documents import corrupt
from wf_artifacts.storage.rows import blob, load
from wf_core.ids import ArtifactId, is_id

_MOST_VERSION = 2**31 - 1


def artifact_document(reference: ArtifactRef) -> str:
    return f"artifacts/{reference.artifact_id}/{reference.version}"


def deployment_document(deployment_id: str) -> str:
    return f"deployments/{deployment_id}"


def find_versions(transaction: Transaction, artifact_id: ArtifactId) -> list[int]:
    """Give the versions that there are, ascending. A row without a number is none (`storage.misfits`)."""
    rows = transaction.rows("versions", artifact_id=artifact_id)
    return [version for (version,) in rows if is_numbered(artifact_id, version)]


def find_last_version(transaction: Transaction, artifact_id: ArtifactId) -> int | None:
    """Give the last version number that was given to an artifact; None where none was.

    Raises:
        StateCorrupt: what its row holds is no number.
    """
    row = transaction.row("last_version", artifact_id=artifact_id)
    if row is None:
        return None
    (last,) = row
    if not is_numbered(artifact_id, last):
        raise corrupt(f"artifacts/{artifact_id}", "its last version is no number")
    return last


def is_numbered(artifact_id: object, version: object) -> bool:
    """Tell whether columns hold an id and a number."""
    return is_id(artifact_id) and isinstance(version, int)


def find_document(transaction: Transaction, reference: ArtifactRef) -> StoredVersion | None:
    """Read the document of a version, or give None where there is none.

    Raises:
        StateCorrupt: what its row holds is no document.
    """
    artifact_id, version = reference
    # A child's reference comes from a plan, and nobody has checked it.
    if not is_id(artifact_id) or not 0 < version <= _MOST_VERSION:
        return None
    row = transaction.row("version_document", artifact_id=artifact_id, version=version)
    if row is None:
        return None
    name = artifact_document(reference)
    return StoredVersion(name, blob(row[0], name))


def find_artifact(transaction: Transaction, reference: ArtifactRef) -> Artifact | None:
    """Read a version, or give None where there is none.

    Raises:
        StateCorrupt, FormatTooNew: its row cannot be read.
    """
    stored = find_document(transaction, reference)
    return None if stored is None else read_artifact(reference, stored.data)


def read_artifact(reference: ArtifactRef, document: object) -> Artifact:
    """Read the document of a version.

    Raises:
        StateCorrupt, FormatTooNew: it cannot be read, or is another's.
    """
    return load(document, ARTIFACT, artifact_document(reference), **reference._asdict())


def read_deployment(row: Row) -> Deployment:
    """Read an id and the document behind it.

    Raises:
        StateCorrupt, FormatTooNew: it cannot be read, or is another's.
    """
    deployment_id, document = row
    return load(document, DEPLOYMENT, deployment_document(deployment_id), deployment_id=deployment_id)
