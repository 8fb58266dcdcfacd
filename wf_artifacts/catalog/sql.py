"""The catalog in a database, shared by every process that opens it.

Statements are in `storage/sql/catalog.sql`. Whatever changes more than one row, or depends on another, holds the lock
over the catalog: deleting an artifact looks at every deployment.
"""

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import partial
from typing import Any

from anyio import CapacityLimiter

from wf_artifacts.catalog import soundness
from wf_artifacts.catalog.definitions import Definition, Definitions
from wf_artifacts.catalog.models import ARTIFACT, DEPLOYMENT, Artifact, ArtifactListing, Deployment
from wf_artifacts.catalog.references import ArtifactRef, require_reachable, require_unused
from wf_artifacts.catalog.rows import (
    find_artifact,
    find_document,
    find_last_version,
    find_versions,
    is_numbered,
    read_artifact,
    read_deployment,
)
from wf_artifacts.catalog.rules import first_version, require_ids, require_restorable, taking_the_place_of
from wf_artifacts.errors import ArtifactNotFound, DeploymentNotFound
from wf_artifacts.storage.connections import Row
from wf_artifacts.storage.database import Database, Transaction
from wf_artifacts.storage.findings import Fault
from wf_artifacts.storage.identifiers import require_id
from wf_artifacts.storage.pages import Page
from wf_artifacts.storage.rows import FIRST, list_rows
from wf_artifacts.storage.soundness import take_lock
from wf_artifacts.storage.threads import in_thread
from wf_core.errors import StateError
from wf_core.ids import ArtifactId, DeploymentId, close_matches


class SqlCatalog:
    """Keeps artifacts and deployments in one row each."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._definitions = Definitions()

    @property
    def threads(self) -> CapacityLimiter:
        return self._database.threads

    def faults(self) -> Iterator[Fault]:
        """Look at everything that is kept of artifacts and deployments."""
        return soundness.faults(self._database)

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
        draft = first_version(
            artifact_id, plan, description=description, required_capabilities=required_capabilities, now=now
        )
        with self._changing() as transaction:
            earlier = _find(transaction, artifact_id, draft.digest)
            if earlier is not None:
                return earlier
            last = find_last_version(transaction, artifact_id)
            artifact = draft if last is None else draft.model_copy(update={"version": last + 1})
            transaction.change("number_artifact", artifact_id=artifact_id, version=artifact.version)
            _put_version(transaction, artifact)
            return artifact

    @in_thread
    def load_artifact(self, artifact_id: ArtifactId, version: int | None = None) -> Artifact:
        require_id("an artifact", artifact_id)
        with self._database.reading() as transaction:
            newest = _require_versions(transaction, artifact_id, version)[-1]
            artifact = find_artifact(transaction, ArtifactRef(artifact_id, newest))
            if artifact is None:
                raise _no_artifact(transaction, artifact_id, version)
            return artifact

    @in_thread
    def list_artifacts(self, *, cursor: str | None = None, limit: int) -> Page[ArtifactListing]:
        with self._database.reading() as transaction:
            fetch = partial(_newest, transaction)
            return list_rows("artifacts", fetch, _listing, start=FIRST, cursor=cursor, limit=limit)

    @in_thread
    def delete_artifact(self, artifact_id: ArtifactId, version: int | None = None) -> None:
        require_id("an artifact", artifact_id)
        with self._changing() as transaction:
            doomed = _require_versions(transaction, artifact_id, version)
            references = (ArtifactRef(artifact_id, number) for number in doomed)
            require_unused(references, _every_deployment(transaction), partial(find_artifact, transaction))
            for number in doomed:
                transaction.change("delete_version", artifact_id=artifact_id, version=number)

    @in_thread
    def last_versions(self) -> Mapping[ArtifactId, int]:
        with self._database.reading() as transaction:
            return {
                ArtifactId(name): last for name, last in transaction.rows("last_versions") if is_numbered(name, last)
            }

    @in_thread
    def restore_artifact(self, artifact_id: ArtifactId, versions: Sequence[Artifact], *, last: int) -> None:
        require_id("an artifact", artifact_id)
        with self._changing() as transaction:
            known = find_last_version(transaction, artifact_id)
            require_restorable(artifact_id, versions, last, known=known or 0)
            transaction.change("number_artifact", artifact_id=artifact_id, version=last)
            for artifact in versions:
                _put_version(transaction, artifact)

    @in_thread
    def save_deployment(self, deployment: Deployment, *, replace: bool) -> Deployment:
        require_ids(deployment)
        with self._changing() as transaction:
            earlier = _deployment(transaction, deployment.deployment_id)
            deployment = taking_the_place_of(earlier, deployment, replace=replace)
            require_reachable(deployment, partial(find_artifact, transaction))
            document = DEPLOYMENT.encode(deployment)
            transaction.change("put_deployment", deployment_id=deployment.deployment_id, document=document)
            return deployment

    @in_thread
    def load_deployment(self, deployment_id: DeploymentId) -> Deployment:
        require_id("a deployment", deployment_id)
        with self._database.reading() as transaction:
            return _require_deployment(transaction, deployment_id)

    @in_thread
    def load_definition(self, deployment_id: DeploymentId) -> Definition:
        require_id("a deployment", deployment_id)
        with self._database.reading() as transaction:
            deployment = _require_deployment(transaction, deployment_id)
            definition = self._definitions.of(deployment, partial(find_document, transaction))
            if definition is None:
                raise _no_artifact(transaction, deployment.artifact_id, deployment.artifact_version)
            return definition

    @in_thread
    def list_deployments(self, *, cursor: str | None = None, limit: int) -> Page[Deployment]:
        with self._database.reading() as transaction:

            def fetch(after: str, limit: int) -> list[Row]:
                return transaction.rows("list_deployments", after=after, limit=limit)

            return list_rows("deployments", fetch, read_deployment, start=FIRST, cursor=cursor, limit=limit)

    @in_thread
    def delete_deployment(self, deployment_id: DeploymentId) -> None:
        require_id("a deployment", deployment_id)
        with self._changing() as transaction:
            if not transaction.change("delete_deployment", deployment_id=deployment_id):
                raise _no_deployment(transaction, deployment_id)

    @contextmanager
    def _changing(self) -> Generator[Transaction]:
        with self._database.writing() as transaction:
            take_lock(transaction, "catalog")
            yield transaction


def _require_versions(transaction: Transaction, artifact_id: ArtifactId, version: int | None) -> list[int]:
    """Give the version that is meant, or all, ascending."""
    wanted = [number for number in find_versions(transaction, artifact_id) if version in {None, number}]
    if not wanted:
        raise _no_artifact(transaction, artifact_id, version)
    return wanted


def _put_version(transaction: Transaction, artifact: Artifact) -> None:
    transaction.change(
        "insert_version",
        artifact_id=artifact.artifact_id,
        version=artifact.version,
        digest=artifact.digest,
        document=ARTIFACT.encode(artifact),
    )


def _find(transaction: Transaction, artifact_id: ArtifactId, digest: str) -> Artifact | None:
    """Give the version whose plan has the digest. One that cannot be read is passed over."""
    for version, document in transaction.rows("equal_versions", artifact_id=artifact_id, digest=digest):
        with suppress(StateError):
            return read_artifact(ArtifactRef(artifact_id, version), document)
    return None


def _newest(transaction: Transaction, after: str, limit: int) -> list[Row]:
    """Give the newest version of artifacts, and with each the numbers of all its versions."""
    rows = transaction.rows("list_newest", after=after, limit=limit)
    numbers: dict[str, list[int]] = {row[0]: [] for row in rows}
    if rows:
        for artifact_id, version in transaction.rows("list_versions", first=rows[0][0], last=rows[-1][0]):
            if is_numbered(artifact_id, version):
                numbers[artifact_id].append(version)
    return [(*row, numbers[row[0]]) for row in rows]


def _listing(row: Row) -> ArtifactListing:
    artifact_id, version, document, versions = row
    return ArtifactListing(newest=read_artifact(ArtifactRef(artifact_id, version), document), versions=tuple(versions))


def _no_artifact(transaction: Transaction, artifact_id: ArtifactId, version: int | None) -> ArtifactNotFound:
    versions = find_versions(transaction, artifact_id)
    if versions:
        return ArtifactNotFound(artifact_id, version, versions=versions)
    known = (known for (known,) in transaction.rows("artifact_ids"))
    return ArtifactNotFound(artifact_id, close=close_matches(artifact_id, known))


def _deployment(transaction: Transaction, deployment_id: DeploymentId) -> Deployment | None:
    row = transaction.row("deployment_document", deployment_id=deployment_id)
    return None if row is None else read_deployment((deployment_id, *row))


def _require_deployment(transaction: Transaction, deployment_id: DeploymentId) -> Deployment:
    deployment = _deployment(transaction, deployment_id)
    if deployment is None:
        raise _no_deployment(transaction, deployment_id)
    return deployment


def _every_deployment(transaction: Transaction) -> Iterator[Deployment]:
    return map(read_deployment, transaction.rows("every_deployment"))


def _no_deployment(transaction: Transaction, deployment_id: DeploymentId) -> DeploymentNotFound:
    known = (known for (known,) in transaction.rows("deployment_ids"))
    return DeploymentNotFound(deployment_id, close=close_matches(deployment_id, known))
