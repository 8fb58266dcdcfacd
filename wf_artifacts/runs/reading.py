"""What is read of one run in a database, in one transaction.

Every function raises RunNotFound where there is no such run, and StateCorrupt or FormatTooNew naming the row that
cannot be read.
"""

from typing import Any

from wf_artifacts.errors import RunNotFound
from wf_artifacts.runs.checkpoints import NamedCheckpoint, whole
from wf_artifacts.runs.environment import ENVIRONMENT, PinnedEnvironment
from wf_artifacts.runs.models import RECORD, Checkpoint, RunRecord
from wf_artifacts.runs.rows import read_entries, read_entry, read_journal, read_made, read_record, require_numbers
from wf_artifacts.runs.rules import COMPARED_RUNS
from wf_artifacts.storage.connections import Row
from wf_artifacts.storage.database import Transaction
from wf_artifacts.storage.digests import bytes_digest, principal_digest
from wf_artifacts.storage.documents import Format, corrupt
from wf_artifacts.storage.rows import blob, load
from wf_core.ids import RunId, close_matches, is_id

CHECKPOINT = Format("wf.run_checkpoint", 2, NamedCheckpoint, plain=1)


def find(transaction: Transaction, name: str, run_id: RunId, *, principal: str | None = None) -> Row:
    """Give the row that a statement finds for a run; with a principal, the runs of others do not exist."""
    asked = principal_digest(principal)
    row = transaction.row(name, run_id=run_id, principal=asked) if is_id(run_id) else None
    if row is None:
        newest = (known for (known,) in transaction.rows("newest_ids", principal=asked, limit=COMPARED_RUNS))
        raise RunNotFound(run_id, close=close_matches(run_id, newest))
    return row


def record(transaction: Transaction, run_id: RunId, *, principal: str | None = None) -> RunRecord:
    """Read its record."""
    return read_record(find(transaction, "run", run_id, principal=principal))


def environment(transaction: Transaction, run_id: RunId) -> PinnedEnvironment:
    """Read its definitions."""
    digest, document = find(transaction, "environment", run_id)
    where = f"environments/{run_id}"
    pinned = load(document, ENVIRONMENT, where)
    if bytes_digest(document) != digest:
        raise corrupt(where, "it is not what the run was started with")
    return pinned


def checkpoint(transaction: Transaction, run_id: RunId) -> Checkpoint:
    """Read its latest checkpoint."""
    document, state = find(transaction, "checkpoint", run_id)
    where = f"checkpoints/{run_id}"
    return whole(run_id, load(document, CHECKPOINT, where), blob(state, where), where)


def journal(transaction: Transaction, run_id: RunId) -> list[bytes]:
    """Read the lines of its journal."""
    run, _, length, position = _ends(transaction, run_id)
    rows = transaction.rows("journal", run=run)
    last = rows[-1][0] if rows else None
    if last != position:
        raise corrupt(f"journal/{run_id}", f"it leads to position {last}, not {position}")
    return read_journal(run_id, rows, length=length)


def require_progress(transaction: Transaction, run_id: RunId) -> None:
    """Accept what its head says about how far it is: what its record says, or the last of its inputs."""
    document, *counted, entries, steps = find(transaction, "progress", run_id)
    where = f"runs/{run_id}"
    require_numbers((*counted, entries, steps), where)
    stored = load(document, RECORD, where)
    known = [max(stored.trace_count, entries or 0), max(stored.steps_executed, steps or 0)]
    if counted != known:
        raise corrupt(where, f"its head counts {counted[0]} trace entries and {counted[1]} steps, not {known}")


def made(transaction: Transaction, run_id: RunId, run: int) -> list[tuple[int, bytes]]:
    """Read the trace entries in its journal, each with its number."""
    return list(read_made(run_id, transaction.rows("journal", run=run)))


def trace(transaction: Transaction, run_id: RunId, start: int, limit: int) -> list[dict[str, Any]]:
    """Read entries of its trace."""
    run, trace_count, *_ = _ends(transaction, run_id)
    numbers = range(start, min(start + limit, trace_count))
    entries = _entries(transaction, run_id, run, numbers)
    return [read_entry(run_id, number, entry) for number, entry in zip(numbers, entries, strict=True)]


def _ends(transaction: Transaction, run_id: RunId) -> Row:
    ends = find(transaction, "ends", run_id)
    require_numbers(ends, f"runs/{run_id}")
    return ends


def _entries(transaction: Transaction, run_id: RunId, run: int, numbers: range) -> list[bytes]:
    if not numbers:
        return []
    place = {"run": run, "first": numbers.start, "end": numbers.stop}
    inputs = transaction.rows("journal_of_entries", **place)
    made = ((number, entry, None) for number, entry in read_made(run_id, inputs))
    return read_entries(run_id, [*transaction.rows("entries", **place), *made], numbers)
