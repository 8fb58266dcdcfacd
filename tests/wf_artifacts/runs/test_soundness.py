"""An examination of the runs in a database names every row that cannot be read, and no other.

A repair moves what nobody can go on with to lost+found, whole, unless somebody has it.
"""

from collections.abc import Iterator

import pytest

from tests.wf_artifacts.databases import columns, run_lawless_sql, run_sql
from tests.wf_artifacts.runs.test_reading import BEGUN, DAMAGE, HEALTHY, begin
from tests.wf_artifacts.samples import (
    checkpoint,
    environment,
    following,
    inputs,
    new_run_id,
    record,
    start_and_release,
    trace,
)
from wf_artifacts.errors import RunNotFound
from wf_artifacts.runs.models import RECORD
from wf_artifacts.runs.sql import SqlRuns
from wf_artifacts.storage.connections import Row
from wf_artifacts.storage.database import Database

pytestmark = pytest.mark.anyio

TABLES = ("runs", "run_heads", "environments", "checkpoints", "inputs", "trace")


@pytest.fixture
def runs(database: Database) -> Iterator[SqlRuns]:
    opened = SqlRuns(database)
    yield opened
    opened.close()


def found(runs: SqlRuns) -> list[tuple[str, str]]:
    return [(fault.finding.kind, fault.finding.document) for fault in runs.faults()]


def repair(runs: SqlRuns) -> list[tuple[str, str]]:
    faults = list(runs.faults())
    for fault in faults:
        if fault.mend is not None:
            fault.mend()
    return [(fault.finding.kind, fault.finding.document) for fault in faults]


def stored(database: Database, prefix: str = "wf") -> dict[str, list[Row]]:
    """Give every row of every run."""
    found = {table: run_sql(database, f"SELECT * FROM {prefix}_{table} ORDER BY 1, 2") for table in TABLES}
    # Who had a run, and how often somebody had it, is not what was stored of it.
    return found | {"run_heads": [(run, *rest) for run, _, _, *rest in found["run_heads"]]}


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


@pytest.mark.parametrize(("damage", "row", "ask"), [one for one in DAMAGE if one[1] != "trace"])
async def test_an_open_run_that_nobody_can_go_on_with_is_moved_whole(
    database: Database, runs: SqlRuns, damage: str, row: str, ask: str
) -> None:
    del ask
    await begin(runs, BEGUN)
    run_sql(database, damage, junk=b"junk")
    lost = stored(database)
    await begin(runs, HEALTHY)
    assert ("damaged", f"{row}/{BEGUN.run_id}") in {
        (kind, document.removesuffix("/1")) for kind, document in repair(runs)
    }
    assert found(runs) == []
    assert stored(database, "wf_lost") == lost
    with pytest.raises(RunNotFound):
        await runs.load(BEGUN.run_id)
    assert (await runs.load(HEALTHY.run_id)).trace_count == 3


@pytest.mark.parametrize("damage", ["UPDATE wf_runs SET record = :junk", "DELETE FROM wf_run_heads"])
async def test_a_run_without_a_readable_record_is_moved_and_its_key_is_free(
    database: Database, runs: SqlRuns, damage: str
) -> None:
    await start_and_release(runs, record(new_run_id(1), idempotency_key="k"))
    run_sql(database, damage, junk=b"junk")
    lost = stored(database)
    assert repair(runs) == [("damaged", f"runs/{BEGUN.run_id}")]
    assert stored(database, "wf_lost") == lost
    await start_and_release(runs, record(new_run_id(2), idempotency_key="k"))


@pytest.mark.parametrize("damage", ["trace_count = trace_count + 1", "steps_executed = 9", "position = 2"])
async def test_a_head_that_counts_otherwise_than_what_was_stored_is_found(
    database: Database, runs: SqlRuns, damage: str
) -> None:
    await begin(runs, BEGUN)
    run_sql(database, f"UPDATE wf_run_heads SET {damage}")
    assert ("damaged", f"runs/{BEGUN.run_id}") in found(runs)


@pytest.mark.parametrize("damage", ["idempotency_key = :junk", "idempotency_key = NULL"])
async def test_a_key_that_leads_to_its_run_no_longer_does_so_again(
    database: Database, runs: SqlRuns, damage: str
) -> None:
    kept = record(new_run_id(1), idempotency_key="k")
    await start_and_release(runs, kept, HEALTHY)
    run_sql(database, f"UPDATE wf_runs SET {damage} WHERE run_id = :run_id", junk=b"junk", run_id=kept.run_id)
    assert await runs.earlier(kept) is None
    assert repair(runs) == [("damaged", f"runs/{kept.run_id}")]
    assert await runs.earlier(kept) == kept
    assert found(runs) == []


async def test_a_key_that_another_run_has_by_now_is_left_to_it(database: Database, runs: SqlRuns) -> None:
    first, second = (record(new_run_id(number), idempotency_key="k") for number in (1, 2))
    await start_and_release(runs, first)
    run_sql(database, "UPDATE wf_runs SET idempotency_key = NULL")
    await start_and_release(runs, second)
    for _ in range(2):
        assert repair(runs) == [("damaged", f"runs/{first.run_id}")]
    assert await runs.earlier(first) == second


async def test_a_run_that_has_ended_and_a_trace_stay(database: Database, runs: SqlRuns) -> None:
    await begin(runs, BEGUN)
    async with await runs.claim(BEGUN.run_id) as claim:
        ended = following(await runs.load(BEGUN.run_id), entries=0, status="completed")
        await runs.commit(claim, ended, checkpoint=checkpoint(ended))
    run_sql(database, "UPDATE wf_checkpoints SET state = :junk", junk=b"junk")
    await start_and_release(runs, HEALTHY)
    async with await runs.claim(HEALTHY.run_id) as claim:
        moved = following(HEALTHY)
        await runs.commit(claim, moved, checkpoint=checkpoint(moved), trace=trace(HEALTHY))
    run_sql(database, "UPDATE wf_trace SET entry = :junk WHERE run = (SELECT MAX(run) FROM wf_trace)", junk=b"junk")
    before = stored(database)
    faults = list(runs.faults())
    assert [(fault.finding.document, fault.finding.repair, fault.mend) for fault in faults] == [
        (f"trace/{HEALTHY.run_id}/0", None, None),
        (f"checkpoints/{BEGUN.run_id}", None, None),
    ]
    assert stored(database) == before


async def test_a_run_that_somebody_has_is_not_repaired(database: Database, runs: SqlRuns) -> None:
    await start_and_release(runs, BEGUN)
    run_sql(database, "UPDATE wf_environments SET document = :junk", junk=b"junk")
    others = SqlRuns(database)
    async with await others.claim(BEGUN.run_id):
        before = stored(database)
        assert repair(runs) == [("damaged", f"environments/{BEGUN.run_id}")]
        assert stored(database) == before
    others.close()
    repair(runs)
    assert stored(database)["runs"] == []


async def test_a_run_that_is_whole_by_now_is_left_alone(database: Database, runs: SqlRuns) -> None:
    await start_and_release(runs, BEGUN)
    ((document,),) = run_sql(database, "SELECT document FROM wf_environments")
    run_sql(database, "UPDATE wf_environments SET document = :junk", junk=b"junk")
    (fault,) = runs.faults()
    run_sql(database, "UPDATE wf_environments SET document = :document", document=document)
    assert fault.mend is not None
    fault.mend()
    assert await runs.load_environment(BEGUN.run_id) == environment()


async def test_entries_behind_the_end_are_moved_and_the_run_goes_on(database: Database, runs: SqlRuns) -> None:
    """Their numbers are those that it is about to give."""
    await begin(runs, BEGUN)
    for number in (3, 7):
        text = "INSERT INTO wf_trace SELECT run, :number, entry, crc32 FROM wf_trace WHERE number = 0"
        run_sql(database, text, number=number)
    assert repair(runs) == [("leftover", f"trace/{BEGUN.run_id}")]
    assert found(runs) == []
    assert [row[1] for row in run_sql(database, "SELECT * FROM wf_lost_trace ORDER BY 2")] == [3, 7]
    async with await runs.claim(BEGUN.run_id) as claim:
        await runs.append(claim, inputs(BEGUN, since=1), sync=True)
    assert (await runs.load(BEGUN.run_id)).trace_count == 4


async def test_rows_of_a_run_that_is_gone_are_moved(database: Database, runs: SqlRuns) -> None:
    await begin(runs, BEGUN)
    await begin(runs, HEALTHY)
    whole = stored(database)
    run_lawless_sql(database, "DELETE FROM wf_runs WHERE run_id = :run_id", run_id=BEGUN.run_id)
    ((kind, document),) = repair(runs)
    assert (kind, document.rstrip("0123456789")) == ("orphaned", "rows of run number ")
    assert found(runs) == []
    kept, moved = stored(database), stored(database, "wf_lost")
    assert {table: sorted(moved[table] + kept[table]) for table in TABLES[1:]} == {
        table: sorted(whole[table]) for table in TABLES[1:]
    }
    assert [row[1] for row in kept["runs"]] == [HEALTHY.run_id]


@pytest.mark.parametrize("table", [*TABLES, "versions", "deployments"])
def test_what_is_kept_has_every_column_that_it_had(database: Database, table: str) -> None:
    """Whoever adds a column to a table adds it to its counterpart in lost+found."""
    assert columns(database, f"wf_lost_{table}") == columns(database, f"wf_{table}") != []
