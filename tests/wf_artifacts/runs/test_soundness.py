"""An examination of the runs in a database names every row that cannot be read, and no other."""

from collections.abc import Iterator

import pytest

from tests.wf_artifacts.databases import run_sql
from tests.wf_artifacts.runs.test_reading import BEGUN, DAMAGE, HEALTHY, begin
from tests.wf_artifacts.samples import new_run_id, record, start_and_release
from wf_artifacts.runs.models import RECORD
from wf_artifacts.runs.sql import SqlRuns
from wf_artifacts.storage.database import Database

pytestmark = pytest.mark.anyio


@pytest.fixture
def runs(database: Database) -> Iterator[SqlRuns]:
    opened = SqlRuns(database)
    yield opened
    opened.close()


def found(runs: SqlRuns) -> list[tuple[str, str]]:
    return [(fault.finding.kind, fault.finding.document) for fault in runs.faults()]


async def test_nothing_is_wrong_with_what_is_as_it_was_stored(runs: SqlRuns) -> None:
    assert found(runs) == []
    await begin(runs, BEGUN)
    await start_and_release(runs, *(record(new_run_id(number)) for number in range(10, 115)))
    assert found(runs) == []


@pytest.mark.parametrize(("damage", "row", "ask"), DAMAGE)
async def test_a_damaged_row_is_found_whatever_else_is_sound(
    database: Database, runs: SqlRuns, damage: str, row: str, ask: str
) -> None:
    await begin(runs, BEGUN)
    where = "AND" if "WHERE" in damage else "WHERE"
    run_sql(database, f"{damage} {where} run = (SELECT MIN(number) FROM wf_runs)", junk=b"junk")
    await begin(runs, HEALTHY)
    told = found(runs)
    assert {(kind, document.split("/")[1]) for kind, document in told} == {("damaged", BEGUN.run_id)}
    assert any(document.startswith(f"{row}/") for _, document in told)


async def test_a_record_that_cannot_be_read_is_found_and_one_of_a_newer_version_told_apart(
    database: Database, runs: SqlRuns
) -> None:
    await start_and_release(runs, BEGUN, HEALTHY)
    newer = RECORD.encode(BEGUN).replace(b'"version":', b'"version":99', 1)
    for document, run_id in ((b"junk", HEALTHY.run_id), (newer, BEGUN.run_id)):
        text = "UPDATE wf_runs SET record = :document WHERE run_id = :run_id"
        run_sql(database, text, document=document, run_id=run_id)
    assert found(runs) == [("damaged", f"runs/{HEALTHY.run_id}"), ("newer", f"runs/{BEGUN.run_id}")]
