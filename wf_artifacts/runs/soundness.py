"""What is wrong with the runs in a database, and how it is mended.

As in a file tree, a row that cannot be read ends a run that is open: a repair moves it to lost+found, whole, because
nobody can go on with it. Of a run that has ended the rest can still be shown, so it stays, and so does a trace.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from wf_artifacts.errors import RunNotFound
from wf_artifacts.runs import reading
from wf_artifacts.runs.models import RunRecord
from wf_artifacts.runs.rows import read_record
from wf_artifacts.storage.connections import Row
from wf_artifacts.storage.database import Database, Transaction
from wf_artifacts.storage.findings import MOVES_RUN, Fault
from wf_artifacts.storage.repairs import Family, Read, Tail, every_row
from wf_artifacts.storage.rows import LAST, examine
from wf_core.ids import RunId
from wf_core.state import FINAL

_ENTRIES: Final = 1000
"""How many entries of a trace are looked at in one go."""

_NEEDED: Final[dict[str, Read[RunId]]] = {
    "environments": reading.environment,
    "checkpoints": reading.checkpoint,
    "journal": reading.journal,
}


def faults(database: Database) -> Iterator[Fault]:
    """Read everything, the newest run first, and give each row that is not as it should be."""
    runs = Family[RunId](
        database,
        "run",
        repair=MOVES_RUN,
        keep=("keep_run", "keep_head", "keep_environment", "keep_checkpoint", "keep_journal"),
        delete=("delete_head", "delete_environment", "delete_checkpoint", "clear_journal"),
        orphans="orphaned_rows",
        tail=Tail("entries", find="surplus_entries", keep="keep_entries", delete="delete_entries"),
    )
    for row in every_row(database, _list, start=LAST):
        yield from _run_faults(database, runs, row)
    yield from runs.orphans()


def _list(transaction: Transaction, before: str, limit: int) -> Sequence[Row]:
    everybody = {"principal": None, "status": None, "deployment_id": None}
    return transaction.rows("list_runs", before=before, limit=limit, **everybody)


def _run_faults(database: Database, runs: Family[RunId], row: Row) -> Iterator[Fault]:
    """Look at one run. It may go on, or be deleted, meanwhile."""
    run_id, ended = RunId(row[0]), row[3] in FINAL
    unreadable = runs.unreadable(run_id, {"runs": _record}, ended=False)
    yield from unreadable
    if unreadable:
        return
    yield from runs.unreadable(run_id, _NEEDED, ended=ended)
    for first in range(0, row[5] or 0, _ENTRIES):
        with database.reading() as transaction:
            read = partial(reading.trace, transaction, run_id, first, _ENTRIES)
            found = list(examine(f"trace/{run_id}", read))
        yield from found
    yield from runs.surplus(run_id, f"trace/{run_id}")


def _record(transaction: Transaction, run_id: RunId) -> RunRecord:
    """Read a record, also one whose id is none."""
    row = transaction.row("run", run_id=run_id, principal=None)
    if row is None:
        raise RunNotFound(run_id)
    return read_record(row)
