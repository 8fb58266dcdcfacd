"""What is wrong with a database is named whatever is kept in it, and what nobody may do without is put back."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.wf_artifacts.databases import database_at, run_lawless_sql, run_sql
from tests.wf_artifacts.samples import NOW, artifact, deployment, plan, record
from tests.wf_artifacts.storage.test_unfinished import fill
from wf_artifacts.errors import NotFound, StoreUnavailable
from wf_artifacts.storage.database import Database
from wf_artifacts.storage.soundness import LOCKS, faults, take_lock, unlisted
from wf_artifacts.stores import Stores, open_stores
from wf_core.errors import StateCorrupt, StateError

pytestmark = pytest.mark.anyio


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[Stores]:
    async with open_stores(f"sqlite:///{tmp_path}/home/wf.db") as stores:
        await fill(stores)
        yield stores


async def found(stores: Stores, *, repair: bool = False) -> list[str]:
    return [one.document async for one in stores.examine(repair=repair)]


def damage(path: Path, text: str) -> None:
    database = database_at(f"sqlite:///{path}/home/wf.db")
    run_lawless_sql(database, text)
    database.close()


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_that_is_missing_is_named_and_put_back(database: Database, lock: str) -> None:
    """Without it writers of the catalog, or repairs, do not wait for each other."""
    assert list(faults(database)) == []
    run_sql(database, "DELETE FROM wf_locks WHERE name = :lock", lock=lock)
    (fault,) = faults(database)
    assert (fault.finding.kind, fault.finding.document) == ("damaged", f"wf_locks/{lock}")
    with pytest.raises(StateCorrupt, match=r"doctor --repair"), database.writing() as transaction:
        take_lock(transaction, "catalog" if lock == "catalog" else "repairs")
    for _ in range(2):
        assert fault.mend is not None
        fault.mend()
    assert list(faults(database)) == []
    with database.writing() as transaction:
        take_lock(transaction, "catalog")
        take_lock(transaction, "repairs")


async def test_locks_are_put_back_before_what_takes_them_is_repaired(tmp_path: Path, stores: Stores) -> None:
    damage(tmp_path, "DELETE FROM wf_locks")
    damage(tmp_path, "UPDATE wf_deployments SET document = x'00'")
    with pytest.raises(StateCorrupt, match="wf_locks/catalog"):
        await stores.catalog.save_deployment(deployment("more"), replace=False)
    named = await found(stores, repair=True)
    assert named[:3] == ["wf_locks/catalog", "wf_locks/repairs", "deployments/publish"]
    assert await found(stores) == []


@pytest.mark.parametrize(
    "text",
    [
        "UPDATE wf_versions SET version = 'x'",
        "UPDATE wf_versions SET version = x'00'",
        "UPDATE wf_versions SET artifact_id = x'7a7a'",
        "UPDATE wf_artifacts SET last_version = 'x'",
        "UPDATE wf_artifacts SET artifact_id = x'7a7a'",
        "UPDATE wf_deployments SET deployment_id = x'7a7a'",
        "UPDATE wf_deployments SET deployment_id = NULL",
        "UPDATE wf_runs SET run_id = x'7a7a'",
        "UPDATE wf_run_heads SET trace_count = 'x'",
        "UPDATE wf_run_heads SET journal_bytes = 'x'",
        "UPDATE wf_run_heads SET position = x'00'",
        "UPDATE wf_run_heads SET fence = 'x'",
        "UPDATE wf_sessions SET session_id = x'7a7a'",
        "UPDATE wf_cached_results SET created_at = 'x'",
    ],
)
async def test_a_value_of_another_type_is_told_and_what_is_behind_it_is_looked_at(
    tmp_path: Path, stores: Stores, text: str
) -> None:
    damage(tmp_path, text)
    damage(tmp_path, "UPDATE wf_cached_results SET document = x'00'")
    named = await found(stores)
    assert any(one.startswith(text.split()[1]) for one in named)
    assert any(one.startswith("cache/") for one in named)
    await refuse_or_answer(stores)


async def refuse_or_answer(stores: Stores) -> None:
    """Ask for everything, and for what there is not: each answers, or says what is damaged."""
    catalog, runs = stores.catalog, stores.runs
    for ask in (
        lambda: catalog.load_artifact(artifact().artifact_id),
        lambda: catalog.load_artifact(artifact("nots").artifact_id),
        lambda: catalog.load_deployment(deployment().deployment_id),
        lambda: catalog.load_deployment(deployment("publsh").deployment_id),
        lambda: catalog.load_definition(deployment().deployment_id),
        lambda: catalog.list_artifacts(limit=1),
        lambda: catalog.list_deployments(limit=1),
        catalog.last_versions,
        lambda: catalog.save_artifact(
            artifact().artifact_id, plan("other"), description="", required_capabilities=[], now=NOW
        ),
        lambda: runs.load(record().run_id),
        lambda: runs.load_journal(record().run_id),
        lambda: runs.read_trace(record().run_id, 0, 10),
        lambda: runs.list_runs(principal=None, limit=1),
    ):
        try:
            await ask()
        except (StateError, NotFound, StoreUnavailable):
            continue


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("UPDATE wf_runs SET run_id = x'7a7a'", "wf_runs"),
        ("UPDATE wf_sessions SET session_id = x'7a7a'", "wf_sessions"),
        ("UPDATE wf_versions SET version = 'x'", "wf_versions"),
        ("UPDATE wf_artifacts SET last_version = 'x'", "wf_artifacts"),
        ("UPDATE wf_continuations SET token = x'7a7a'", "wf_continuations"),
    ],
)
async def test_what_no_list_names_is_said_to_be_damaged(tmp_path: Path, stores: Stores, text: str, row: str) -> None:
    assert stores.lacking() == []
    damage(tmp_path, text)
    (error,) = stores.lacking()
    assert error.details["document"].startswith(f"{row} where ")


def test_a_value_that_no_list_goes_by_hides_nothing(database: Database) -> None:
    if not database.checks_types:
        run_sql(database, "INSERT INTO wf_owners VALUES ('owner', 'x')")
        assert [fault.finding.document for fault in faults(database)] == ["wf_owners where owner = 'owner'"]
    assert unlisted(database) == []
