"""What is wrong with the catalog in a database, and how it is mended.

A repair holds the lock over the catalog, looks again, and moves the row to the table of its kind in lost+found.
"""

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import partial

from wf_artifacts.catalog.models import Deployment
from wf_artifacts.catalog.references import ArtifactRef, lacking
from wf_artifacts.catalog.rows import (
    artifact_document,
    deployment_document,
    find_artifact,
    find_versions,
    is_numbered,
    read_deployment,
)
from wf_artifacts.catalog.rules import require_saved_plan
from wf_artifacts.storage.database import Database, Transaction
from wf_artifacts.storage.findings import KEEPS_NUMBER, MOVES_IT, Fault, Finding
from wf_artifacts.storage.rows import examine
from wf_artifacts.storage.soundness import take_lock
from wf_core.errors import StateCorrupt
from wf_core.ids import DeploymentId, is_id


def faults(database: Database) -> Iterator[Fault]:
    """Look at every row. Artifacts come first, because deployments need them."""
    with database.reading() as transaction:
        artifacts, deployments = transaction.rows("artifact_ids"), transaction.rows("deployment_ids")
    for (artifact_id,) in artifacts:
        with database.reading() as transaction:
            versions = find_versions(transaction, artifact_id)
        for version in versions:
            yield from _version_faults(database, ArtifactRef(artifact_id, version))
    yield from _lagging_numbers(database)
    for (deployment_id,) in deployments:
        if is_id(deployment_id):
            yield from _deployment_faults(database, deployment_id)


def _version_faults(database: Database, reference: ArtifactRef) -> Iterator[Fault]:
    def take_away(transaction: Transaction) -> None:
        place = reference._asdict()
        transaction.change("keep_version", **place)
        transaction.change("delete_version", **place)

    read = partial(_read_version, reference)
    mend = partial(_mend, database, read, take_away)
    with database.reading() as transaction:
        found = list(examine(artifact_document(reference), lambda: read(transaction), KEEPS_NUMBER, mend))
        lost = not found and _lost_digest(transaction, reference)
    yield from found
    if lost:
        problem = "Nothing finds it by its plan: the same plan would be saved as another version."
        finding = Finding(artifact_document(reference), "damaged", problem, "Lets its plan lead to it again.")
        yield Fault(finding, partial(_restore_digest, database, reference))


def _lost_digest(transaction: Transaction, reference: ArtifactRef) -> str | None:
    """Give the digest of a version that stands under another one; None where it stands under its own."""
    artifact = find_artifact(transaction, reference)
    row = transaction.row("digest_of_version", **reference._asdict())
    return None if artifact is None or row == (artifact.digest,) else artifact.digest


def _restore_digest(database: Database, reference: ArtifactRef) -> None:
    with _repairing(database) as transaction:
        digest = _lost_digest(transaction, reference)
        if digest is not None:
            transaction.change("restore_digest", **reference._asdict(), digest=digest)


def _read_version(reference: ArtifactRef, transaction: Transaction) -> None:
    artifact = find_artifact(transaction, reference)
    if artifact is not None:
        require_saved_plan(artifact, artifact_document(reference))


def _lagging_numbers(database: Database) -> Iterator[Fault]:
    """Report artifacts of which a number that is taken would be given again."""

    def count_on(artifact_id: str) -> None:
        with _repairing(database) as transaction:
            for name, version in transaction.rows("lagging_numbers"):
                if name == artifact_id:
                    transaction.change("number_artifact", artifact_id=name, version=version)

    with database.reading() as transaction:
        lagging = transaction.rows("lagging_numbers")
    for artifact_id, version in lagging:
        if not is_numbered(artifact_id, version):
            continue
        problem = f"Its next version would get the number of an earlier one: {version} is taken."
        finding = Finding(f"artifacts/{artifact_id}", "damaged", problem, f"Counts on from {version}.")
        yield Fault(finding, partial(count_on, artifact_id))


def _deployment_faults(database: Database, deployment_id: DeploymentId) -> Iterator[Fault]:
    def take_away(transaction: Transaction) -> None:
        transaction.change("keep_deployment", deployment_id=deployment_id)
        transaction.change("delete_deployment", deployment_id=deployment_id)

    document = deployment_document(deployment_id)
    read = partial(_read_deployment, deployment_id)
    mend = partial(_mend, database, read, take_away)
    with database.reading() as transaction:
        found = list(examine(document, lambda: read(transaction), MOVES_IT, mend))
        deployment = None if found else read(transaction)
        orphaned = deployment and lacking(document, deployment, partial(find_artifact, transaction))
    yield from found
    if orphaned:
        yield orphaned


def _read_deployment(deployment_id: DeploymentId, transaction: Transaction) -> Deployment | None:
    row = transaction.row("deployment_document", deployment_id=deployment_id)
    return None if row is None else read_deployment((deployment_id, *row))


def _mend(database: Database, read: Callable[[Transaction], object], take_away: Callable[[Transaction], None]) -> None:
    """Take away what cannot be read, if it still cannot when nobody else changes the catalog."""
    with _repairing(database) as transaction:
        try:
            read(transaction)
        except StateCorrupt:
            take_away(transaction)


@contextmanager
def _repairing(database: Database) -> Generator[Transaction]:
    with database.writing() as transaction:
        take_lock(transaction, "catalog")
        yield transaction
