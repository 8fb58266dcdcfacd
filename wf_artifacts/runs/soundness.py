"""What cannot be read of the runs in a database.

The database itself sees to it that nothing is left over, and that nothing belongs to a run that is gone. A row that
somebody damaged can only be restored from a backup, so nothing is repaired here.
"""

from collections.abc import Iterator
from functools import partial
from typing import Final

from wf_artifacts.runs import reading
from wf_artifacts.runs.rows import read_record
from wf_artifacts.storage.connections import Row
from wf_artifacts.storage.database import Database
from wf_artifacts.storage.findings import Fault
from wf_artifacts.storage.rows import LAST, examine
from wf_core.ids import RunId

_RUNS: Final = 100
"""How many runs are looked at in one go."""
_ENTRIES: Final = 1000
"""How many entries of a trace are looked at in one go."""


def faults(database: Database) -> Iterator[Fault]:
    """Read everything, the newest run first, and give each row that cannot be read."""
    before = LAST
    while True:
        with database.reading() as transaction:
            everybody = {"principal": None, "status": None, "deployment_id": None}
            rows = transaction.rows("list_runs", before=before, limit=_RUNS, **everybody)
        for row in rows:
            yield from _run_faults(database, row)
        if len(rows) < _RUNS:
            return
        before = rows[-1][0]


def _run_faults(database: Database, row: Row) -> Iterator[Fault]:
    """Look at one run. It may go on, or be deleted, meanwhile."""
    run_id = RunId(row[0])
    yield from examine(f"runs/{run_id}", lambda: read_record(row))
    with database.reading() as transaction:
        yield from examine(f"environments/{run_id}", lambda: reading.environment(transaction, run_id))
        yield from examine(f"checkpoints/{run_id}", lambda: reading.checkpoint(transaction, run_id))
        yield from examine(f"journal/{run_id}", lambda: reading.journal(transaction, run_id))
    for first in range(0, row[5] or 0, _ENTRIES):
        with database.reading() as transaction:
            yield from examine(f"trace/{run_id}", partial(reading.trace, transaction, run_id, first, _ENTRIES))
