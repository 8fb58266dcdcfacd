"""A damaged row of a run is told by its name wherever it is read, and left alone."""

from collections.abc import Iterator

import pytest

from tests.wf_artifacts.databases import run_sql
from tests.wf_artifacts.samples import checkpoint, environment, inputs, new_run_id, record, trace
from wf_artifacts.runs.models import RunRecord
from wf_artifacts.runs.sql import SqlRuns
from wf_artifacts.storage.database import Database
from wf_core.errors import StateCorrupt

pytestmark = pytest.mark.anyio

BEGUN = record(new_run_id(1))
HEALTHY = record(new_run_id(2))

DAMAGE = [
    ("UPDATE wf_environments SET document = :junk", "environments", "load_environment"),
    ("UPDATE wf_environments SET digest = 'sha256:0'", "environments", "load_environment"),
    ("DELETE FROM wf_environments", "environments", "load_environment"),
    ("UPDATE wf_checkpoints SET state = :junk", "checkpoints", "load_checkpoint"),
    ("UPDATE wf_checkpoints SET document = :junk", "checkpoints", "load_checkpoint"),
    ("DELETE FROM wf_checkpoints", "checkpoints", "load_checkpoint"),
    ("UPDATE wf_trace SET entry = :junk WHERE number = 1", "trace", "read_trace"),
    ("UPDATE wf_trace SET crc32 = crc32 + 1 WHERE number = 1", "trace", "read_trace"),
    ("DELETE FROM wf_trace WHERE number = 1", "trace", "read_trace"),
    ("UPDATE wf_inputs SET lines = :junk WHERE position = 1", "journal", "load_journal"),
    ("UPDATE wf_inputs SET crc32 = crc32 + 1 WHERE position = 1", "journal", "load_journal"),
    ("DELETE FROM wf_inputs WHERE position = 1", "journal", "load_journal"),
]


@pytest.fixture
def runs(database: Database) -> Iterator[SqlRuns]:
    opened = SqlRuns(database)
    yield opened
    opened.close()


async def begin(runs: SqlRuns, begun: RunRecord) -> None:
    """Begin a run with two trace entries of its own and one that an input made."""
    begun = begun.model_copy(update={"trace_count": 2})
    made = await runs.create(begun, environment(), checkpoint(begun), trace=trace(record(), 2))
    assert made.claim is not None
    async with made.claim as claim:
        await runs.append(claim, inputs(begun), sync=True)


SWAPPED = [
    "lines, crc32",
    "lines, crc32, steps_executed, first_entry, entries, journal_bytes",
]


@pytest.mark.parametrize("columns", SWAPPED)
async def test_inputs_that_stand_in_the_place_of_others_are_told(
    database: Database, runs: SqlRuns, columns: str
) -> None:
    made = await runs.create(BEGUN, environment(), checkpoint(BEGUN))
    assert made.claim is not None
    async with made.claim as claim:
        for since in range(2):
            await runs.append(claim, inputs(BEGUN, since=since), sync=True)
    rows = run_sql(database, f"SELECT {columns} FROM wf_inputs ORDER BY position")
    for position, values in zip((2, 1), rows, strict=True):
        named = dict(zip(columns.split(", "), values, strict=True))
        text = ", ".join(f"{name} = :{name}" for name in named)
        run_sql(database, f"UPDATE wf_inputs SET {text} WHERE position = {position}", **named)
    for read in (lambda: runs.load_journal(BEGUN.run_id), lambda: runs.read_trace(BEGUN.run_id, 0, 2)):
        with pytest.raises(StateCorrupt, match=f"document journal/{BEGUN.run_id}"):
            await read()


@pytest.mark.parametrize(("damage", "row", "ask"), DAMAGE)
async def test_a_damaged_row_is_told_by_its_name_and_left_alone(
    database: Database, runs: SqlRuns, damage: str, row: str, ask: str
) -> None:
    await begin(runs, BEGUN)
    run_sql(database, damage, junk=b"junk")
    table = next(word for word in damage.split() if word.startswith("wf_"))
    before = run_sql(database, f"SELECT * FROM {table}")
    arguments = (0, 3) if ask == "read_trace" else ()
    with pytest.raises(StateCorrupt, match=f"document {row}/{BEGUN.run_id}"):
        await getattr(runs, ask)(BEGUN.run_id, *arguments)
    assert run_sql(database, f"SELECT * FROM {table}") == before
    assert (await runs.load(BEGUN.run_id)).trace_count == 3
