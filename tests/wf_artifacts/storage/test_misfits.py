"""A value of another type is named with its row, and no other."""

from pathlib import Path

import pytest

from tests.wf_artifacts.databases import database_at, run_lawless_sql, run_sql
from tests.wf_artifacts.storage.test_unfinished import fill
from wf_artifacts.storage.database import Database
from wf_artifacts.storage.misfits import misfits
from wf_artifacts.stores import open_stores

pytestmark = pytest.mark.anyio


@pytest.fixture
async def database(tmp_path: Path) -> Database:
    """A bit of everything."""
    url = f"sqlite:///{tmp_path}/wf.db"
    async with open_stores(url) as stores:
        await fill(stores)
    return database_at(url)


def found(database: Database) -> list[tuple[str, str]]:
    with database.reading() as transaction:
        return [(one.row, one.problem) for one in misfits(transaction)]


async def test_what_was_stored_fits(database: Database) -> None:
    assert found(database) == []
    database.close()


@pytest.mark.parametrize(
    ("damage", "row", "problem"),
    [
        ("wf_versions SET version = 'x'", "wf_versions where artifact_id = 'notes' and version = 'x'",
         "its version is a text, not a number"),
        ("wf_versions SET artifact_id = x'7a7a'", "wf_versions where artifact_id = X'7A7A' and version = 1",
         "its artifact_id is bytes, not a text"),
        ("wf_artifacts SET last_version = 1.5", "wf_artifacts where artifact_id = 'notes'",
         "its last_version is a fraction, not a number"),
        ("wf_deployments SET deployment_id = NULL", "wf_deployments where deployment_id = NULL",
         "its deployment_id is nothing, not a text"),
        ("wf_deployments SET document = 'text'", "wf_deployments where deployment_id = 'publish'",
         "its document is a text, not bytes"),
        ("wf_runs SET run_id = x'7a7a'", "wf_runs where number = 1", "its run_id is bytes, not a text"),
        ("wf_run_heads SET fence = 'x'", "wf_run_heads where run = 1", "its fence is a text, not a number"),
        ("wf_session_events SET number = 'x' WHERE number = 1", "wf_session_events where session = 1 and number = 'x'",
         "its number is a text, not a number"),
        ("wf_continuations SET principal = 'x'", "wf_continuations where token = 'call_1'",
         "its principal is a text, not bytes"),
    ],
)  # fmt: skip
async def test_a_value_of_another_type_is_named(database: Database, damage: str, row: str, problem: str) -> None:
    if "call_1" in row:
        ((token,),) = run_sql(database, "SELECT token FROM wf_continuations")
        row = row.replace("call_1", token)
    run_lawless_sql(database, f"UPDATE {damage}")
    assert found(database) == [(row, problem)]
    database.close()


async def test_a_column_that_may_be_empty_is_and_a_long_key_is_cut(database: Database) -> None:
    run_lawless_sql(database, "UPDATE wf_runs SET idempotency_key = NULL")
    run_lawless_sql(database, "UPDATE wf_session_events SET crc32 = NULL")
    assert found(database) == []
    run_lawless_sql(database, "UPDATE wf_deployments SET deployment_id = randomblob(10000)")
    ((row, _),) = found(database)
    assert len(row) < 200
    database.close()
