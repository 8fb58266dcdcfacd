"""Entries are found wherever they stand, reading little, and damage on the way is told."""

from pathlib import Path

import pytest

from tests.wf_artifacts.samples import new_run_id
from wf_artifacts.runs import journal
from wf_core.errors import StateCorrupt

RUN = new_run_id()


def entry(number: int) -> bytes:
    """An entry whose length differs from those around it."""
    return b'{"index":%d,"text":"%b"}' % (number, b"x" * (number * 37 % 900))


def write(path: Path, entries: int) -> int:
    """Write a journal, and give its length."""
    data = journal.first_line(RUN) + journal.lines(0, [entry(number) for number in range(entries)])
    path.write_bytes(data)
    return len(data)


def read(path: Path, length: int, numbers: range) -> list[int]:
    found = journal.read(path, "journal", length=length, run_id=RUN, numbers=numbers)
    return [one["index"] for one in found]


@pytest.mark.parametrize("entries", [1, 2, 3, 10, 257])
def test_every_entry_is_found(tmp_path: Path, entries: int) -> None:
    path = tmp_path / "journal"
    length = write(path, entries)
    for number in range(entries):
        assert read(path, length, range(number, number + 1)) == [number]
    assert read(path, length, range(entries)) == list(range(entries))


def test_lines_count_on_from_those_before() -> None:
    assert journal.lines(7, [b"{}", b"{}"]) == b'{"n":7,"trace":{}}\n{"n":8,"trace":{}}\n'
    assert journal.lines(7, []) == b""


def test_what_lies_beyond_the_length_does_not_count(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    length = write(path, 5)
    path.write_bytes(path.read_bytes() + b'{"n":5,"trace":{"ind')
    assert read(path, length, range(3, 5)) == [3, 4]
    with pytest.raises(StateCorrupt, match="entry 5 is missing"):
        read(path, length, range(5, 6))


def test_a_journal_that_is_too_short_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    length = write(path, 5)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(StateCorrupt, match=f"it is shorter than {length} bytes"):
        read(path, length, range(1))


def test_a_damaged_line_is_told_only_where_it_is_needed(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    length = write(path, 3)
    path.write_bytes(path.read_bytes().replace(b'"index":2', b'"index"#2'))
    assert read(path, length, range(2)) == [0, 1]
    with pytest.raises(StateCorrupt, match="the record at byte"):
        read(path, length, range(3))


def test_a_line_under_the_number_of_another_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    length = write(path, 3)
    path.write_bytes(path.read_bytes().replace(b'{"n":1,', b'{"n":7,'))
    with pytest.raises(StateCorrupt):
        read(path, length, range(3))
