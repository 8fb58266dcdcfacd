"""Rows of runs as records, and what of a record has columns of its own.

Columns that are looked up hold ids and digests only: a principal and an idempotency key may be any text.
"""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any, cast

from wf_artifacts.runs.models import RECORD, JournalRecord, RunRecord
from wf_artifacts.runs.rules import journal_line
from wf_artifacts.storage.connections import Row
from wf_artifacts.storage.documents import corrupt
from wf_artifacts.storage.rows import blob, load
from wf_artifacts.storage.statements import Parameters, Value
from wf_core import jsonvalue
from wf_core.errors import NotJson
from wf_core.ids import RunId


def columns(record: RunRecord) -> dict[str, Value]:
    """Give what `insert_run` stores of a record.

    Raises:
        NotJson: a value in it is no strict JSON.
    """
    return {
        "run_id": record.run_id,
        "principal": principal_digest(record.principal),
        "deployment_id": record.deployment_id,
        "status": record.status,
        "idempotency_key": key_digest(record),
        "record": RECORD.encode(record),
    }


def principal_digest(principal: str) -> bytes:
    return _digest(principal)


def key_digest(record: RunRecord) -> bytes | None:
    """Name the idempotency key of a record among those of all principals and deployments."""
    if record.idempotency_key is None:
        return None
    return _digest([record.principal, record.deployment_id, record.idempotency_key])


def read_record(row: Row) -> RunRecord:
    """Read a run whose columns a statement gives in the order of `run`; columns behind those are not looked at.

    Raises:
        StateCorrupt, FormatTooNew: the record cannot be read, or is another's.
    """
    run_id, principal, deployment_id, status, document, trace_count, steps_executed = row[:7]
    where = f"runs/{run_id}"
    record = load(document, RECORD, where, run_id=run_id, deployment_id=deployment_id, status=status)
    if principal_digest(record.principal) != principal:
        raise corrupt(where, "it belongs to somebody else")
    if trace_count is None:
        raise corrupt(where, "nothing says how far it is")
    return record.model_copy(update={"trace_count": trace_count, "steps_executed": steps_executed})


def entry_rows(run: int, first: int, entries: Sequence[bytes]) -> list[Parameters]:
    """Give what `insert_entry` stores of trace entries, of which the first has the number `first`."""
    return [{"run": run, "number": number, "entry": entry} for number, entry in enumerate(entries, first)]


def input_rows(run: int, trace_count: int, records: Sequence[JournalRecord]) -> Iterator[Parameters]:
    """Give what `insert_input` stores of records that follow `trace_count` entries."""
    for record in records:
        yield {
            "run": run,
            "position": record.position,
            "steps_executed": record.steps_executed,
            "line": record.line,
            "first_entry": trace_count,
            "entries": len(record.trace),
        }
        trace_count += len(record.trace)


def read_entries(run_id: RunId, rows: Sequence[Row], numbers: range) -> list[bytes]:
    """Give the trace entries with these numbers.

    Raises:
        StateCorrupt: one is missing.
    """
    found: dict[int, Any] = dict(rows)
    for number in numbers:
        if number not in found:
            raise corrupt(f"trace/{run_id}/{number}", "it is missing")
    return [blob(found[number], f"trace/{run_id}/{number}") for number in numbers]


def read_entry(run_id: RunId, number: int, entry: bytes) -> dict[str, Any]:
    """Read a trace entry.

    Raises:
        StateCorrupt: it cannot be read.
    """
    where = f"trace/{run_id}/{number}"
    try:
        value = jsonvalue.loads(entry)
    except NotJson as error:
        raise corrupt(where, f"it holds {error.reason}") from error
    if not isinstance(value, dict):
        raise corrupt(where, "it is no trace entry")
    return cast("dict[str, Any]", value)


def read_journal(
    run_id: RunId, inputs: Sequence[Row], trace: range, entries: Sequence[bytes], *, length: int
) -> list[bytes]:
    """Give the lines of a journal of `length` bytes, of its inputs and of the trace entries that they made.

    Raises:
        StateCorrupt: an input is missing or damaged.
    """
    lines: list[bytes] = []
    for position, steps_executed, line, first, count in inputs:
        made = tuple(entries[first - trace.start :][:count])
        record = JournalRecord(blob(line, f"journal/{run_id}/{position}"), made, steps_executed, position)
        lines.append(journal_line(record))
    found = sum(map(len, lines))
    if found != length:
        raise corrupt(f"journal/{run_id}", f"it holds {found} bytes, not {length}")
    return lines


def _digest(value: Any) -> bytes:
    return sha256(jsonvalue.canonical(value)).digest()
