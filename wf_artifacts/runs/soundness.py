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
from wf_artifacts.runs.rows import key_digest, read_record
from wf_artifacts.storage.connections import Row
from wf_artifacts.storage.database import Database, Transaction
from wf_artifacts.storage.findings import MOVES_RUN, Fault, Finding
from wf_artifacts.storage.repairs import Family, Read, Tail, every_row, repairing
from wf_artifacts.storage.rows import LAST, examine
from wf_core.ids import RunId
from wf_core.state import FINAL

_ENTRIES: Final = 1000
"""How many entries of a trace are looked at in one go."""

_NEEDED: Final[dict[str, Read[RunId]]] = {
    "environments": reading.environment,
    "checkpoints": reading.checkpoint,
    "journal": reading.journal,
    "runs": reading.require_progress,
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
    yield from _key_faults(database, run_id)
    yield from runs.unreadable(run_id, _NEEDED, ended=ended)
    for first in range(0, row[5] or 0, _ENTRIES):
        with database.reading() as transaction:
            read = partial(reading.trace, transaction, run_id, first, _ENTRIES)
            found = list(examine(f"trace/{run_id}", read))
        yield from found
    yield from runs.surplus(run_id, f"trace/{run_id}")


def _key_faults(database: Database, run_id: RunId) -> Iterator[Fault]:
    """Report a run that its idempotency key does not lead to."""
    with database.reading() as transaction:
        lost = _has_lost_key(transaction, run_id)
    if lost:
        problem = "Its idempotency key leads nowhere: the same request would begin another run."
        finding = Finding(f"runs/{run_id}", "damaged", problem, "Lets the key lead to the run again.")
        yield Fault(finding, partial(_restore_key, database, run_id))


def _has_lost_key(transaction: Transaction, run_id: RunId) -> bool:
    row = transaction.row("key_of_run", run_id=run_id)
    return row is not None and row[0] != key_digest(_record(transaction, run_id))


def _restore_key(database: Database, run_id: RunId) -> None:
    """Let the key of a run lead to it, unless it leads to another by now."""
    with repairing(database) as transaction:
        if _has_lost_key(transaction, run_id):
            key = key_digest(_record(transaction, run_id))
            if key is None or transaction.row("run_of_key", idempotency_key=key) is None:
                transaction.change("restore_key", run_id=run_id, idempotency_key=key)


def _record(transaction: Transaction, run_id: RunId) -> RunRecord:
    """Read a record, also one whose id is none."""
    row = transaction.row("run", run_id=run_id, principal=None)
    if row is None:
        raise RunNotFound(run_id)
    return read_record(row)
