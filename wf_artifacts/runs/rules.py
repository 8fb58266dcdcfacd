"""What every store of runs holds against what is to be stored, before it writes anything, and the line of an input."""

from collections.abc import Sequence
from typing import Any, cast

from wf_artifacts.errors import IdempotencyConflict
from wf_artifacts.runs.models import Checkpoint, JournalRecord, RunRecord
from wf_core import jsonvalue

RUNS = "runs"
"""The list that cursors of runs belong to."""

COMPARED_RUNS = 200
"""How many of the newest runs a mistyped id is compared with."""


def require_first_state(record: RunRecord, checkpoint: Checkpoint, trace: Sequence[bytes]) -> None:
    """Accept what a run begins with in a store; one that comes from another may have any checkpoint.

    Raises:
        ValueError: record, checkpoint and trace do not fit together.
    """
    _require_trace(record, 0, trace)
    _require_checkpoint(record, checkpoint.sequence - 1, checkpoint)


def require_next_state(
    earlier: RunRecord, record: RunRecord, checkpoint: Checkpoint | None, trace: Sequence[bytes]
) -> None:
    """Accept what may follow a stored state.

    Raises:
        ValueError: record, checkpoint and trace do not fit together, or do not follow the earlier record.
    """
    if record.run_id != earlier.run_id:
        raise ValueError(f"a record of {record.run_id} cannot follow one of {earlier.run_id}")
    _require_trace(record, earlier.trace_count, trace)
    if checkpoint is not None:
        _require_checkpoint(record, earlier.checkpoint, checkpoint)
    elif record.checkpoint != earlier.checkpoint:
        raise ValueError(f"the record names checkpoint {record.checkpoint}, the latest is {earlier.checkpoint}")


def require_next_inputs(position: int | None, records: Sequence[JournalRecord]) -> None:
    """Accept inputs to append; `position` is that of the last one that the latest checkpoint lacks, if there is one.

    Raises:
        ValueError: they do not follow one another, or an input or a trace entry is no JSON object on one line.
    """
    for record in records:
        if position is not None and record.position != position + 1:
            raise ValueError(f"the input at position {record.position} does not follow {position}")
        position = record.position
        _require_lines((record.line, *record.trace))


def journal_line(record: JournalRecord) -> bytes:
    """Write a record as `RunStore.load_journal` gives it."""
    return b'{"position":%d,"input":%b,"trace":[%b]}' % (record.position, record.line, b",".join(record.trace))


def size_of(records: Sequence[JournalRecord]) -> int:
    """Count the bytes that inputs have to be stored at least."""
    return sum([len(record.line) + sum(map(len, record.trace)) for record in records])


def trace_of(line: bytes) -> list[dict[str, Any]]:
    """Give the trace entries in a line of `journal_line`."""
    return cast("list[dict[str, Any]]", cast("dict[str, Any]", jsonvalue.loads(line))["trace"])


def require_same_input(earlier: RunRecord, record: RunRecord) -> None:
    """Accept an earlier run in the place of a new one with the same key.

    Raises:
        IdempotencyConflict: their inputs differ.
    """
    if earlier.input_digest != record.input_digest:
        raise IdempotencyConflict(str(record.idempotency_key), earlier.run_id)


def belongs(
    record: RunRecord, principal: str | None, status: str | None = None, deployment_id: str | None = None
) -> bool:
    """Tell whether a run is among those that are asked for; None asks for all."""
    return (
        principal in {None, record.principal}
        and status in {None, record.status}
        and deployment_id in {None, record.deployment_id}
    )


def _require_trace(record: RunRecord, count: int, trace: Sequence[bytes]) -> None:
    if record.trace_count != count + len(trace):
        raise ValueError(f"{len(trace)} entries after {count} do not make {record.trace_count}")
    _require_lines(trace)


def _require_lines(objects: Sequence[bytes]) -> None:
    for one in objects:
        if one[:1] != b"{" or one[-1:] != b"}" or b"\n" in one:
            raise ValueError("an input or a trace entry is one JSON object on one line")


def _require_checkpoint(record: RunRecord, latest: int, checkpoint: Checkpoint) -> None:
    if checkpoint.run_id != record.run_id:
        raise ValueError(f"a checkpoint of {checkpoint.run_id} does not belong to {record.run_id}")
    if not record.checkpoint == checkpoint.sequence == latest + 1:
        raise ValueError(f"checkpoint {checkpoint.sequence}, named {record.checkpoint}, does not follow {latest}")
