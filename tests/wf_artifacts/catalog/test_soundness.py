"""What is wrong with the catalog in a database is named, and repaired: no byte is lost, no number given twice."""

from typing import Any

import pytest

from tests.wf_artifacts.databases import run_lawless_sql, run_sql
from tests.wf_artifacts.samples import NOW, deployment, plan
from wf_artifacts.catalog.models import ARTIFACT
from wf_artifacts.catalog.sql import SqlCatalog
from wf_artifacts.storage.database import Database
from wf_artifacts.storage.findings import Fault, Finding
from wf_core.ids import ArtifactId

pytestmark = pytest.mark.anyio

NOTES = ArtifactId("notes")


@pytest.fixture
async def catalog(database: Database) -> SqlCatalog:
    """Versions 1 and 2 of an artifact, of which the first is deployed."""
    catalog = SqlCatalog(database)
    await save(catalog, "first")
    await save(catalog, "second")
    await catalog.save_deployment(deployment(), replace=False)
    return catalog


async def save(catalog: SqlCatalog, name: str, artifact_id: str = "notes") -> int:
    saved = await catalog.save_artifact(
        ArtifactId(artifact_id), plan(name), description="", required_capabilities=[], now=NOW
    )
    return saved.version


def found(catalog: SqlCatalog) -> list[tuple[str, str]]:
    return [(fault.finding.document, fault.finding.kind) for fault in catalog.faults()]


def mend(faults: list[Fault]) -> list[tuple[str, str]]:
    for fault in faults:
        if fault.mend is not None:
            fault.mend()
    return [(fault.finding.document, fault.finding.kind) for fault in faults]


def repair(catalog: SqlCatalog) -> list[tuple[str, str]]:
    return mend(list(catalog.faults()))


def damage(database: Database, table: str, where: str) -> None:
    run_sql(database, f"UPDATE {table} SET document = :junk WHERE {where}", junk=b"junk")


def rows(database: Database, text: str) -> list[Any]:
    return [tuple(row) for row in run_sql(database, text)]


async def test_every_row_that_cannot_be_read_is_named_and_no_other(database: Database, catalog: SqlCatalog) -> None:
    for artifact_id in ("changed", "healthy"):
        await save(catalog, "notes", artifact_id)
    assert found(catalog) == []
    other = ARTIFACT.encode((await catalog.load_artifact(ArtifactId("changed"))).model_copy(update={"plan": {}}))
    run_sql(database, "UPDATE wf_versions SET document = :other WHERE artifact_id = 'changed'", other=other)
    damage(database, "wf_versions", "version = 2")
    damage(database, "wf_deployments", "deployment_id = 'publish'")
    damaged = ["artifacts/changed/1", "artifacts/notes/2", "deployments/publish"]
    assert sorted(found(catalog)) == [(document, "damaged") for document in damaged]


async def test_a_damaged_version_is_taken_out_and_its_number_never_given_again(
    database: Database, catalog: SqlCatalog
) -> None:
    damage(database, "wf_versions", "version = 2")
    assert repair(catalog) == [("artifacts/notes/2", "damaged")]
    kept = rows(database, "SELECT artifact_id, version, document FROM wf_lost_versions")
    assert kept == [("notes", 2, b"junk")]
    assert found(catalog) == []
    assert await save(catalog, "third") == 3


async def test_a_damaged_deployment_is_taken_out_as_often_as_it_is_damaged(
    database: Database, catalog: SqlCatalog
) -> None:
    for _ in range(2):
        damage(database, "wf_deployments", "deployment_id = 'publish'")
        assert repair(catalog) == [("deployments/publish", "damaged")]
        await catalog.save_deployment(deployment(), replace=False)
    assert rows(database, "SELECT * FROM wf_lost_deployments") == [("publish", b"junk")] * 2
    assert found(catalog) == []


async def test_a_deployment_whose_artifact_is_gone_is_left_to_its_owner(
    database: Database, catalog: SqlCatalog
) -> None:
    damage(database, "wf_versions", "version = 1")
    assert found(catalog) == [("artifacts/notes/1", "damaged")]
    mend(list(catalog.faults()))
    (fault,) = catalog.faults()
    problem = "It needs version 1 of artifact 'notes', which is not there."
    assert fault == Fault(Finding("deployments/publish", "orphaned", problem, None))


@pytest.mark.parametrize("lost", ["UPDATE wf_artifacts SET last_version = 1", "DELETE FROM wf_artifacts"])
async def test_a_number_that_is_taken_is_counted_on_from(database: Database, catalog: SqlCatalog, lost: str) -> None:
    """A hand may have switched the rules of the database off."""
    run_lawless_sql(database, lost)
    assert repair(catalog) == [("artifacts/notes", "damaged")]
    assert found(catalog) == []
    assert await save(catalog, "third") == 3


async def test_a_version_that_its_plan_does_not_lead_to_is_found_by_it_again(
    database: Database, catalog: SqlCatalog
) -> None:
    run_sql(database, "UPDATE wf_versions SET digest = 'sha256:0' WHERE version = 2")
    assert repair(catalog) == [("artifacts/notes/2", "damaged")]
    assert found(catalog) == []
    assert await save(catalog, "second") == 2


async def test_what_is_whole_by_now_is_left_alone(database: Database, catalog: SqlCatalog) -> None:
    (before,) = rows(database, "SELECT document FROM wf_versions WHERE version = 2")
    damage(database, "wf_versions", "version = 2")
    faults = list(catalog.faults())
    run_sql(database, "UPDATE wf_versions SET document = :document WHERE version = 2", document=before[0])
    mend(faults)
    assert found(catalog) == []
    assert rows(database, "SELECT * FROM wf_lost_versions") == []


async def test_a_newer_artifact_is_left_to_the_version_that_wrote_it(database: Database, catalog: SqlCatalog) -> None:
    newer = ARTIFACT.encode(await catalog.load_artifact(NOTES, 2)).replace(b'"version":2', b'"version":99', 1)
    run_sql(database, "UPDATE wf_versions SET document = :newer WHERE version = 2", newer=newer)
    assert repair(catalog) == [("artifacts/notes/2", "newer")]
    assert rows(database, "SELECT document FROM wf_versions WHERE version = 2") == [(newer,)]
