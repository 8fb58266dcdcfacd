"""What of a run has columns of its own, and which rows are damage."""

from typing import Any

import pytest

from tests.wf_artifacts.samples import record
from wf_artifacts.runs.models import JournalRecord
from wf_artifacts.runs.rows import (
    columns,
    entry_rows,
    inputs_row,
    read_entries,
    read_entry,
    read_journal,
    read_made,
    read_record,
)
from wf_artifacts.runs.rules import journal_line
from wf_core.errors import NotJson, StateCorrupt
from wf_core.ids import RunId

KEPT = record(idempotency_key="k", trace_count=2)
INPUTS = [
    JournalRecord(b'{"kind":"complete"}', (b'{"index":2}', b'{"index":3}'), 1, 7),
    JournalRecord(b'{"kind":"next_work"}', (), 1, 8),
    JournalRecord(b'{"kind":"fail"}', (b'{"index":4}',), 2, 9),
]
ENTRIES = [b'{"index":2}', b'{"index":3}', b'{"index":4}']
LINES = [journal_line(one) for one in INPUTS]
LENGTH = sum(map(len, LINES))
RUN = RunId("run_1")


def row(**changed: Any) -> tuple[Any, ...]:
    """The row of a run, which counts more than the record in it."""
    kept = columns(KEPT) | {"trace_count": 5, "steps_executed": 2} | changed
    names = ("run_id", "principal", "deployment_id", "status", "record", "trace_count", "steps_executed")
    return tuple(kept[name] for name in names)


def test_a_record_counts_what_was_appended_since() -> None:
    assert read_record((*row(), 7, None)) == KEPT.model_copy(update={"trace_count": 5, "steps_executed": 2})


@pytest.mark.parametrize(
    "changed",
    [
        {"run_id": "run_2"},
        {"status": "completed"},
        {"deployment_id": "other"},
        {"principal": columns(record(principal="other"))["principal"]},
        {"record": b""},
        {"record": "text"},
    ],
)
def test_columns_and_record_agree(changed: dict[str, Any]) -> None:
    with pytest.raises(StateCorrupt, match="document runs/run_"):
        read_record(row(**changed))


def test_texts_of_any_kind_have_columns_of_one_length() -> None:
    odd = columns(record(principal="a\u0000b" * 9999, idempotency_key="\u0000"))
    assert [len(value) for value in odd.values() if isinstance(value, bytes)][:2] == [32, 32]
    assert columns(record(principal="a"))["principal"] != columns(record(principal="b"))["principal"]
    keyless = columns(record())
    assert keyless["idempotency_key"] is None


def test_what_is_no_json_has_no_columns() -> None:
    for bad in (record(principal="\ud800"), record(idempotency_key="\ud800"), record(output=float("nan"))):
        with pytest.raises(NotJson):
            columns(bad)


def journal_rows() -> list[tuple[Any, ...]]:
    """The rows of two appends: of one input, and of two."""
    rows = [
        inputs_row(INPUTS[:1], LINES[:1], first_entry=2, journal_bytes=len(LINES[0])),
        inputs_row(INPUTS[1:], LINES[1:], first_entry=4, journal_bytes=LENGTH),
    ]
    names = ("position", "lines", "crc32", "steps_executed", "journal_bytes", "first_entry", "entries")
    return [tuple(row[name] for name in names) for row in rows]


def test_inputs_are_read_with_the_entries_that_they_made() -> None:
    assert read_journal(RUN, journal_rows(), length=LENGTH) == LINES
    assert list(read_made(RUN, journal_rows())) == list(enumerate(ENTRIES, 2))
    assert read_journal(RUN, [], length=0) == []


def test_inputs_from_before_there_were_checksums_are_read() -> None:
    rows = [(position, lines, None, *counted) for position, lines, _, *counted in journal_rows()]
    assert read_journal(RUN, rows, length=LENGTH) == LINES


@pytest.mark.parametrize("missing", [0, 1])
def test_a_missing_row_of_inputs_is_damage(missing: int) -> None:
    rows = journal_rows()
    del rows[missing]
    with pytest.raises(StateCorrupt, match="document journal/run_1"):
        read_journal(RUN, rows, length=LENGTH)


@pytest.mark.parametrize(
    "lines",
    [
        b"",
        "text",
        b"junk",
        LINES[1],
        b'{"position":9,"input":{}}',
        LINES[1] + b"\n" + LINES[2][:-1],
        LINES[2][:-3] + b"]}",
    ],
)
def test_inputs_that_are_not_what_was_appended_are_damage(lines: object) -> None:
    first, (position, _, checksum, *counted) = journal_rows()
    for one in (None, checksum):
        with pytest.raises(StateCorrupt, match="document journal/run_1/9"):
            list(read_made(RUN, [first, (position, lines, one, *counted)]))


def test_a_changed_letter_of_an_input_is_damage() -> None:
    first, (position, lines, *rest) = journal_rows()
    with pytest.raises(StateCorrupt, match="document journal/run_1/9 is damaged: it is not what was written"):
        read_journal(RUN, [first, (position, lines.replace(b"fail", b"fall"), *rest)], length=LENGTH)


@pytest.mark.parametrize("column", range(3, 7))
def test_a_row_of_inputs_that_counts_otherwise_is_damage(column: int) -> None:
    """It says how far a run is."""
    first, second = journal_rows()
    for other in (second[column] + 1, "text"):
        changed = (*second[:column], other, *second[column + 1 :])
        with pytest.raises(StateCorrupt, match="document journal/run_1/9 is damaged: it is not what was written"):
            read_journal(RUN, [first, changed], length=LENGTH)


@pytest.mark.parametrize("column", [0, 3, 4, 5, 6])
def test_a_row_of_inputs_without_a_checksum_that_counts_in_no_numbers_is_damage(column: int) -> None:
    """Earlier versions wrote none."""
    (first, *_) = journal_rows()
    changed = [*first[:2], None, *first[3:]]
    changed[column] = b"9"
    with pytest.raises(StateCorrupt, match=r"document journal/run_1/.* is damaged: what counts"):
        list(read_made(RUN, [tuple(changed)]))


@pytest.mark.parametrize("column", [5, 6, 7, 8])
def test_a_run_that_is_counted_in_no_numbers_is_damage(column: int) -> None:
    found: list[object] = [*row(), 7, None]
    found[column] = "5"
    with pytest.raises(StateCorrupt, match="what counts how far it is is no number"):
        read_record(tuple(found))


def test_entries_are_numbered_and_a_missing_one_is_damage() -> None:
    rows = [(one["number"], one["entry"], one["crc32"]) for one in entry_rows(1, 2, ENTRIES)]
    assert read_entries(RUN, rows, range(2, 5)) == ENTRIES
    with pytest.raises(StateCorrupt, match="document trace/run_1/3 is damaged: it is missing"):
        read_entries(RUN, [rows[0], rows[2]], range(2, 5))


def test_a_changed_letter_of_an_entry_is_damage_where_there_is_a_checksum() -> None:
    ((number, entry, checksum),) = [
        (row["number"], row["entry"], row["crc32"]) for row in entry_rows(1, 2, ENTRIES[:1])
    ]
    assert entry == b'{"index":2}'
    other = b'{"index":3}'
    assert read_entries(RUN, [(number, other, None)], range(2, 3)) == [other]
    with pytest.raises(StateCorrupt, match="document trace/run_1/2 is damaged: it is not what was written"):
        read_entries(RUN, [(number, other, checksum)], range(2, 3))


@pytest.mark.parametrize("entry", [b"", b"[]", b"{", b'{"a":NaN}', b"5"])
def test_an_entry_that_is_no_object_is_damage(entry: bytes) -> None:
    with pytest.raises(StateCorrupt, match="document trace/run_1/3"):
        read_entry(RUN, 3, entry)
