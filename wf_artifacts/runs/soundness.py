"""What is wrong with the runs in a database, and how it is mended.

As in a file tree, a row that cannot be read ends a run that is open: a repair moves it to lost+found, whole, because
nobody can go on with it. Of a run that has ended the rest can still be shown, so it stays, and so does a trace.
"""

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Final

from wf_artifacts.errors import RunNotFound
from wf_artifacts.runs import reading
from wf_artifacts.runs.models import RunRecord
from wf_artifacts.runs.rows import read_record
from wf_artifacts.storage.connections import Row
from wf_artifacts.storage.database import Database, Transaction
from wf_artifacts.storage.findings import MOVES_IT, MOVES_RUN, Fault, Finding
from wf_artifacts.storage.rows import LAST, examine
from wf_core.errors import StateCorrupt
from wf_core.ids import RunId
from wf_core.state import FINAL

_RUNS: Final = 100
"""How many runs are looked at in one go."""
_ENTRIES: Final = 1000
"""How many entries of a trace are looked at in one go."""

Read = Callable[[Transaction, RunId], object]


def faults(database: Database) -> Iterator[Fault]:
    """Read everything, the newest run first, and give each row that is not as it should be."""
    before = LAST
    while True:
        with database.reading() as transaction:
            everybody = {"principal": None, "status": None, "deployment_id": None}
            rows = transaction.rows("list_runs", before=before, limit=_RUNS, **everybody)
        for row in rows:
            yield from _run_faults(database, row)
        if len(rows) < _RUNS:
            break
        before = rows[-1][0]
    yield from _orphans(database)


def _run_faults(database: Database, row: Row) -> Iterator[Fault]:
    """Look at one run. It may go on, or be deleted, meanwhile."""
    run_id, ended = RunId(row[0]), row[3] in FINAL
    unreadable = _examine(database, run_id, {"runs": _record}, ended=False)
    yield from unreadable
    if unreadable:
        return
    needed: dict[str, Read] = {
        "environments": reading.environment,
        "checkpoints": reading.checkpoint,
        "journal": reading.journal,
    }
    yield from _examine(database, run_id, needed, ended=ended)
    for first in range(0, row[5] or 0, _ENTRIES):
        with database.reading() as transaction:
            read = partial(reading.trace, transaction, run_id, first, _ENTRIES)
            found = list(examine(f"trace/{run_id}", read))
        yield from found
    yield from _surplus(database, run_id)


def _examine(database: Database, run_id: RunId, documents: dict[str, Read], *, ended: bool) -> list[Fault]:
    """Give the documents of a run that cannot be read as it is at one moment."""
    with database.reading() as transaction:
        return [
            fault
            for name, read in documents.items()
            for fault in examine(
                f"{name}/{run_id}",
                partial(read, transaction, run_id),
                None if ended else MOVES_RUN,
                None if ended else partial(_take_away, database, run_id, read),
            )
        ]


def _record(transaction: Transaction, run_id: RunId) -> RunRecord:
    """Read a record, also one whose id is none."""
    row = transaction.row("run", run_id=run_id, principal=None)
    if row is None:
        raise RunNotFound(run_id)
    return read_record(row)


def _take_away(database: Database, run_id: RunId, read: Read) -> None:
    """Move a run to lost+found, unless somebody has it or it can be read by now."""
    with _holding(database, run_id) as (transaction, run):
        if run is None:
            return
        try:
            read(transaction, run_id)
        except StateCorrupt:
            _keep(transaction, run, first=0)
            transaction.change("delete_run", run=run)


def _surplus(database: Database, run_id: RunId) -> Iterator[Fault]:
    """Look for trace entries behind the last one that counts."""

    def cut() -> None:
        with _holding(database, run_id) as (transaction, run):
            end = transaction.row("surplus_entries", run_id=run_id)
            if run is not None and end is not None:
                transaction.change("keep_entries", run=run, first=end[0])
                transaction.change("delete_entries", run=run, first=end[0])

    with database.reading() as transaction:
        row = transaction.row("surplus_entries", run_id=run_id)
    if row and row[1]:
        problem = f"It has {row[1]} entries behind its end that do not count."
        yield Fault(Finding(f"trace/{run_id}", "leftover", problem, "Moves these entries to lost+found."), cut)


def _orphans(database: Database) -> Iterator[Fault]:
    """Look for rows of runs that are gone: only a hand that switched the rules of the database off leaves them."""

    def take_away(run: int) -> None:
        with _repairing(database) as transaction:
            _keep(transaction, run, first=0)
            for name in ("delete_head", "delete_environment", "delete_checkpoint", "clear_journal"):
                transaction.change(name, run=run)
            transaction.change("delete_entries", run=run, first=0)

    with database.reading() as transaction:
        orphans = transaction.rows("orphaned_rows")
    for (run,) in orphans:
        finding = Finding(f"rows of run number {run}", "orphaned", "There is no run of this number.", MOVES_IT)
        yield Fault(finding, partial(take_away, run))


def _keep(transaction: Transaction, run: int, *, first: int) -> None:
    """Copy every row of a run to lost+found, of its trace those from entry `first` on."""
    for name in ("keep_run", "keep_head", "keep_environment", "keep_checkpoint", "keep_journal"):
        transaction.change(name, run=run)
    transaction.change("keep_entries", run=run, first=first)


@contextmanager
def _holding(database: Database, run_id: RunId) -> Generator[tuple[Transaction, int | None]]:
    """Let nobody else go on with a run, and give its number; None where somebody has it, or it is gone."""
    with _repairing(database) as transaction:
        yield transaction, _take(database, transaction, run_id)


def _take(database: Database, transaction: Transaction, run_id: RunId) -> int | None:
    found = transaction.row("number_of_run", run_id=run_id)
    claim = transaction.row("claim_on_run", run_id=run_id)
    if found is None:
        return None
    if claim is not None:  # A run without a head can be held by nobody.
        run, fence, owner, held = claim
        if held and not database.has_died(owner):
            return None
        if not transaction.change("take_run", run=run, fence=fence, owner=None):
            return None
    return found[0]


@contextmanager
def _repairing(database: Database) -> Generator[Transaction]:
    """Change the database while no other repair does."""
    with database.writing() as transaction:
        transaction.change("lock_repairs")
        yield transaction
