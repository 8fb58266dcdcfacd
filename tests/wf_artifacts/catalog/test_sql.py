"""What only databases can do to a catalog: rows that are damaged, lists that take few statements."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.wf_artifacts.databases import run_sql
from tests.wf_artifacts.samples import NOW, deployment, plan
from wf_artifacts.catalog.sql import SqlCatalog
from wf_artifacts.errors import ArtifactNotFound
from wf_artifacts.storage.connections import Row
from wf_artifacts.storage.database import Database, Transaction
from wf_core.errors import StateCorrupt
from wf_core.ids import ArtifactId, DeploymentId

pytestmark = pytest.mark.anyio

NOTES = ArtifactId("notes")
PUBLISH = DeploymentId("publish")


@pytest.fixture
def catalog(database: Database) -> SqlCatalog:
    return SqlCatalog(database)


async def save(catalog: SqlCatalog, body: dict[str, Any], artifact_id: str = "notes") -> int:
    saved = await catalog.save_artifact(
        ArtifactId(artifact_id), body, description="", required_capabilities=[], now=NOW
    )
    return saved.version


async def test_a_damaged_artifact_is_told_by_its_name_and_the_others_are_listed(
    database: Database, catalog: SqlCatalog
) -> None:
    for artifact_id in ("healthy", "notes"):
        await save(catalog, plan(), artifact_id)
    run_sql(database, "UPDATE wf_versions SET document = :junk WHERE artifact_id = 'notes'", junk=b"junk")
    with pytest.raises(StateCorrupt, match="document artifacts/notes/1 is damaged"):
        await catalog.load_artifact(NOTES)
    page = await catalog.list_artifacts(limit=10)
    assert [row.newest.artifact_id for row in page.items] == ["healthy"]
    assert [one.identifier for one in page.damaged] == ["notes"]


async def test_a_damaged_version_is_passed_over_when_its_plan_is_saved_again(
    database: Database, catalog: SqlCatalog
) -> None:
    await save(catalog, plan())
    run_sql(database, "UPDATE wf_versions SET document = :junk", junk=b"junk")
    assert await save(catalog, plan()) == 2
    assert (await catalog.load_artifact(NOTES)).plan == plan()


async def test_a_damaged_deployment_is_told_by_its_name_and_the_others_are_listed(
    database: Database, catalog: SqlCatalog
) -> None:
    await save(catalog, plan())
    for deployment_id in ("healthy", "publish"):
        await catalog.save_deployment(deployment(deployment_id), replace=False)
    run_sql(database, "UPDATE wf_deployments SET document = :junk WHERE deployment_id = 'publish'", junk=b"junk")
    with pytest.raises(StateCorrupt, match="document deployments/publish is damaged"):
        await catalog.load_deployment(PUBLISH)
    page = await catalog.list_deployments(limit=10)
    assert [row.deployment_id for row in page.items] == ["healthy"]
    assert [one.identifier for one in page.damaged] == ["publish"]
    with pytest.raises(StateCorrupt):
        await catalog.delete_artifact(NOTES)
    await catalog.delete_deployment(PUBLISH)


async def test_a_list_takes_the_same_statements_however_long_it_is(
    catalog: SqlCatalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    rows = Transaction.rows

    def counted(transaction: Transaction, name: str, **parameters: Any) -> list[Row]:
        asked.append(name)
        return rows(transaction, name, **parameters)

    for first in (0, 3):
        for number in range(first, 3 + first * 5):
            await save(catalog, plan(), f"a{number}")
            await save(catalog, plan("other"), f"a{number}")
            await catalog.save_deployment(deployment(f"d{number}", f"a{number}"), replace=False)
        with monkeypatch.context() as counting:
            counting.setattr(Transaction, "rows", counted)
            assert (await catalog.list_artifacts(limit=5)).items[0].versions == (1, 2)
            await catalog.list_deployments(limit=5)
    assert asked == ["list_newest", "list_versions", "list_deployments"] * 2


@pytest.mark.parametrize("version", [2**31, 2**63, 2**70, -(2**70)])
async def test_a_number_that_no_column_holds_is_no_version(catalog: SqlCatalog, version: int) -> None:
    await save(catalog, plan("parent", ("notes", version)), "parent")
    attempts: list[Callable[[], Awaitable[object]]] = [
        lambda: catalog.load_artifact(NOTES, version),
        lambda: catalog.delete_artifact(NOTES, version),
        lambda: catalog.save_deployment(deployment("d", "parent"), replace=False),
    ]
    for attempt in attempts:
        with pytest.raises(ArtifactNotFound):
            await attempt()
