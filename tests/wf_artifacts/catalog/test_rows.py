"""A row of the catalog is read as the record that its columns promise."""

import pytest

from tests.wf_artifacts.databases import run_sql
from tests.wf_artifacts.samples import NOW, artifact, deployment, plan
from wf_artifacts.catalog.models import ARTIFACT, DEPLOYMENT
from wf_artifacts.catalog.references import ArtifactRef
from wf_artifacts.catalog.rows import find_artifact, find_versions, read_artifact, read_deployment
from wf_artifacts.catalog.sql import SqlCatalog
from wf_artifacts.storage.database import Database
from wf_core.errors import StateCorrupt
from wf_core.ids import ArtifactId

pytestmark = pytest.mark.anyio

NOTES = ArtifactId("notes")


async def test_versions_are_found_ascending_and_those_that_are_gone_are_none(database: Database) -> None:
    catalog = SqlCatalog(database)
    for name in ("first", "second", "third"):
        await catalog.save_artifact(NOTES, plan(name), description="", required_capabilities=[], now=NOW)
    run_sql(database, "DELETE FROM wf_versions WHERE version = 2")
    with database.reading() as transaction:
        assert find_versions(transaction, NOTES) == [1, 3]
        found = [find_artifact(transaction, ArtifactRef(NOTES, version)) for version in (1, 2, 2**31, -1)]
    assert [one and one.plan["name"] for one in found] == ["first", None, None, None]


def test_the_document_of_another_version_is_damage() -> None:
    document = ARTIFACT.encode(artifact())
    assert read_artifact(ArtifactRef(NOTES, 1), document) == artifact()
    with pytest.raises(StateCorrupt, match="artifacts/notes/2"):
        read_artifact(ArtifactRef(NOTES, 2), document)


def test_the_document_of_another_deployment_is_damage() -> None:
    document = DEPLOYMENT.encode(deployment())
    assert read_deployment(("publish", document)) == deployment()
    with pytest.raises(StateCorrupt, match="deployments/other"):
        read_deployment(("other", document))
