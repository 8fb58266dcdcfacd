"""Rows of runs as records, and what of a record has columns of its own.

Columns that are looked up hold ids and digests only: a principal and an idempotency key may be any text.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast
from zlib import crc32

from wf_artifacts.runs.models import RECORD, JournalRecord, RunRecord
from wf_artifacts.runs.rules import trace_of
from wf_artifacts.storage.connections import Row
from wf_artifacts.storage.digests import column_digest, principal_digest
from wf_artifacts.storage.documents import corrupt
from wf_artifacts.storage.rows import checked, load
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


def key_digest(record: RunRecord) -> bytes | None:
    """Name the idempotency key of a record among those of all principals and deployments."""
    if record.idempotency_key is None:
        return None
    return column_digest([record.principal, record.deployment_id, record.idempotency_key])


def read_record(row: Row) -> RunRecord:
    """Read a run whose columns a statement gives in the order of `run`; those behind it hold numbers.

    Raises:
        StateCorrupt, FormatTooNew: the record cannot be read, or is another's.
    """
    run_id, principal, deployment_id, status, document, trace_count, steps_executed = row[:7]
    where = f"runs/{run_id}"
    record = load(document, RECORD, where, run_id=run_id, deployment_id=deployment_id, status=status)
    if principal_digest(record.principal) != principal:
        raise corrupt(where, "it belongs to somebody else")
    if trace_count is None or steps_executed is None:
        raise corrupt(where, "nothing says how far it is")
    require_numbers(row[5:], where)
    return record.model_copy(update={"trace_count": trace_count, "steps_executed": steps_executed})


def require_numbers(values: Iterable[object], document: str) -> None:
    """Accept what columns of numbers hold.

    Raises:
        StateCorrupt: somebody put something else there.
    """
    if not all(value is None or isinstance(value, int) for value in values):
        raise corrupt(document, "what counts how far it is is no number")


def entry_rows(run: int, first: int, entries: Sequence[bytes]) -> list[Parameters]:
    """Give what `insert_entry` stores of trace entries, of which the first has the number `first`."""
    return numbered_rows(run, enumerate(entries, first))


def numbered_rows(run: int, entries: Iterable[tuple[int, bytes]]) -> list[Parameters]:
    """Give what `insert_entry` stores of trace entries, each with its number."""
    return [{"run": run, "number": number, "entry": entry, "crc32": crc32(entry)} for number, entry in entries]


def inputs_row(
    records: Sequence[JournalRecord], lines: Sequence[bytes], *, first_entry: int, journal_bytes: int
) -> dict[str, Value]:
    """Give what `insert_inputs` stores of records and their `lines`: one row, which says how far they lead.

    `journal_bytes` is the length of the journal with them.
    """
    stored = b"\n".join(lines)
    steps, entries = records[-1].steps_executed, sum(len(record.trace) for record in records)
    return {
        "position": records[-1].position,
        "steps_executed": steps,
        "lines": stored,
        "crc32": crc32(stored, _crc32_of(steps, journal_bytes, first_entry, entries)),
        "first_entry": first_entry,
        "entries": entries,
        "journal_bytes": journal_bytes,
    }


def read_entries(run_id: RunId, rows: Sequence[Row], numbers: range) -> list[bytes]:
    """Give the trace entries with these numbers, of rows of a number, an entry and its checksum.

    Raises:
        StateCorrupt: one is missing, or not what was written.
    """
    found: dict[int, tuple[object, int | None]] = {row[0]: (row[1], row[2]) for row in rows}
    for number in numbers:
        if number not in found:
            raise corrupt(f"trace/{run_id}/{number}", "it is missing")
    return [checked(*found[number], f"trace/{run_id}/{number}") for number in numbers]


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


def read_journal(run_id: RunId, inputs: Sequence[Row], *, length: int) -> list[bytes]:
    """Give the lines of a journal of `length` bytes.

    Raises:
        StateCorrupt: a line is missing or damaged.
    """
    lines = [line for row in inputs for line in _lines(run_id, row)]
    found = sum(map(len, lines))
    if found != length:
        raise corrupt(f"journal/{run_id}", f"it holds {found} bytes, not {length}")
    return lines


def read_made(run_id: RunId, inputs: Sequence[Row]) -> Iterator[tuple[int, bytes]]:
    """Give the trace entries that inputs made, each with its number.

    Raises:
        StateCorrupt: they cannot be read, or are not as many as there were.
    """
    for row in inputs:
        position, *_, first, count = row
        try:
            made = [entry for line in _lines(run_id, row) for entry in trace_of(line)]
        except (NotJson, KeyError, TypeError) as error:
            raise corrupt(f"journal/{run_id}/{position}", "it holds no inputs") from error
        if len(made) != count:
            raise corrupt(f"journal/{run_id}/{position}", f"it made {len(made)} entries, not {count}")
        yield from enumerate(map(jsonvalue.dumps, made), first)


def _lines(run_id: RunId, row: Row) -> list[bytes]:
    """Give the lines in the row of the inputs that led to a position."""
    position, stored, checksum, *counted = row
    where = f"journal/{run_id}/{position}"
    lines = checked(stored, checksum, where, after=_crc32_of(*counted)).split(b"\n")
    require_numbers((position, *counted), where)
    if not lines[-1].startswith(b'{"position":%d,' % position):
        raise corrupt(where, "it is not the input that led there")
    return lines


def _crc32_of(*counted: object) -> int:
    """Give the checksum of what a row of inputs counts: steps, bytes of the journal, the first entry, and entries."""
    return crc32(b"%a %a %a %a" % counted)
