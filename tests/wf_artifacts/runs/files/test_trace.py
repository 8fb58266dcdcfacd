"""Entries are found wherever they stand, reading little, and damage on the way is told."""

from pathlib import Path

import pytest

from tests.documents import plain
from tests.wf_artifacts.samples import new_run_id
from wf_artifacts.runs.files import trace
from wf_artifacts.runs.files.trace import NO_TRACE, Segment, Trace
from wf_artifacts.storage import atomic
from wf_core.errors import StateCorrupt

RUN = new_run_id()


def entry(number: int) -> bytes:
    """An entry whose length differs from those around it."""
    return b'{"index":%d,"text":"%b"}' % (number, b"x" * (number * 37 % 900))


def write(folder: Path, count: int, *, after: int = 0, last: Segment = NO_TRACE) -> Segment:
    """Write the entries that follow others, and give the last segment."""
    pieces = list(trace.pieces(last, RUN, after, [entry(number) for number in range(after, after + count)]))
    atomic.write_files(trace.writings(folder, pieces))
    return pieces[-1].segment


def read(folder: Path, last: Segment, numbers: range) -> list[int]:
    return [one["index"] for one in Trace(folder, lambda path: path.name, RUN, last).entries(numbers)]


@pytest.mark.parametrize("entries", [1, 2, 3, 10, 257])
def test_every_entry_is_found(tmp_path: Path, entries: int) -> None:
    last = write(tmp_path, entries)
    for number in range(entries):
        assert read(tmp_path, last, range(number, number + 1)) == [number]
    assert read(tmp_path, last, range(entries)) == list(range(entries))


def test_segments_have_a_bound_and_entries_are_found_in_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace, "SEGMENT_BYTES", 3_000)
    last = NO_TRACE
    for after, count in ((0, 1), (1, 40), (41, 2), (43, 57)):
        last = write(tmp_path, count, after=after, last=last)
    sizes = [path.stat().st_size for path in tmp_path.iterdir()]
    assert len(sizes) == last.number > 5
    assert max(sizes) < 3_000 + 1_000
    for start in range(100):
        assert read(tmp_path, last, range(start, min(start + 30, 100))) == list(range(start, min(start + 30, 100)))


def test_a_segment_that_is_full_is_never_touched_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace, "SEGMENT_BYTES", 1_000)
    last = write(tmp_path, 20)
    full = [trace.segment_path(tmp_path, number) for number in range(1, last.number)]
    before = [(path.stat().st_mtime_ns, path.read_bytes()) for path in full]
    write(tmp_path, 20, after=20, last=last)
    assert [(path.stat().st_mtime_ns, path.read_bytes()) for path in full] == before


def write_plain(folder: Path, count: int) -> Segment:
    """Write a segment as version 2 did, whose entries have no checksums."""
    header = plain(trace.SEGMENT_HEADER.encode(trace.SegmentHeader(run_id=RUN, first=0)), 2)
    lines = [header, *(b'{"n":%d,"trace":%b}' % (number, entry(number)) for number in range(count))]
    data = b"".join(line + b"\n" for line in lines)
    trace.segment_path(folder, 1).write_bytes(data)
    return Segment(number=1, first=0, length=len(data), plain=1)


def test_a_segment_without_checksums_is_followed_by_another(tmp_path: Path) -> None:
    plain_one = write_plain(tmp_path, 3)
    path = trace.segment_path(tmp_path, 1)
    before = path.read_bytes()
    last = write(tmp_path, 2, after=3, last=plain_one)
    last = write(tmp_path, 4, after=5, last=last)
    assert (last.number, last.first, last.plain) == (2, 3, 1)
    assert path.read_bytes() == before
    assert read(tmp_path, last, range(9)) == list(range(9))
    assert list(Trace(tmp_path, lambda path: path.name, RUN, last).damage(9)) == []


def test_a_line_that_lost_its_checksum_is_damage(tmp_path: Path) -> None:
    last = write(tmp_path, 3)
    path = trace.segment_path(tmp_path, 1)
    data = path.read_bytes()
    path.write_bytes(data[: data.rindex(b',"crc32"')] + b"}\n")
    shorter = last.model_copy(update={"length": path.stat().st_size})
    assert read(tmp_path, shorter, range(2)) == [0, 1]
    with pytest.raises(StateCorrupt, match="the record of entry 2 is not what was written"):
        read(tmp_path, shorter, range(3))


def test_a_changed_letter_is_damage(tmp_path: Path) -> None:
    last = write(tmp_path, 3)
    path = trace.segment_path(tmp_path, 1)
    path.write_bytes(path.read_bytes().replace(b'"xx', b'"xy', 1))
    with pytest.raises(StateCorrupt, match="the record of entry 1 is not what was written"):
        read(tmp_path, last, range(3))


def test_a_trace_without_entries_has_no_file(tmp_path: Path) -> None:
    assert list(trace.pieces(NO_TRACE, RUN, 0, [])) == []


def test_what_lies_beyond_the_length_does_not_count(tmp_path: Path) -> None:
    last = write(tmp_path, 5)
    path = trace.segment_path(tmp_path, 1)
    path.write_bytes(path.read_bytes() + b'{"n":5,"trace":{"ind')
    assert read(tmp_path, last, range(3, 5)) == [3, 4]
    assert read(tmp_path, write(tmp_path, 2, after=5, last=last), range(3, 7)) == [3, 4, 5, 6]


def test_a_segment_that_is_too_short_is_damage(tmp_path: Path) -> None:
    last = write(tmp_path, 5)
    path = trace.segment_path(tmp_path, 1)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(StateCorrupt, match=f"it is shorter than {last.length} bytes"):
        read(tmp_path, last, range(1))


def test_a_full_segment_that_lost_its_end_is_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace, "SEGMENT_BYTES", 1_000)
    last = write(tmp_path, 20)
    path = trace.segment_path(tmp_path, 1)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]))
    with pytest.raises(StateCorrupt):
        read(tmp_path, last, range(20))


def test_a_damaged_line_is_told_only_where_it_is_needed(tmp_path: Path) -> None:
    last = write(tmp_path, 3)
    path = trace.segment_path(tmp_path, 1)
    path.write_bytes(path.read_bytes().replace(b'"index":2', b'"index"#2'))
    assert read(tmp_path, last, range(2)) == [0, 1]
    with pytest.raises(StateCorrupt, match="the record of entry 2"):
        read(tmp_path, last, range(3))


def test_a_line_under_the_number_of_another_is_damage(tmp_path: Path) -> None:
    last = write(tmp_path, 3)
    path = trace.segment_path(tmp_path, 1)
    path.write_bytes(path.read_bytes().replace(b'{"n":1,', b'{"n":7,'))
    with pytest.raises(StateCorrupt):
        read(tmp_path, last, range(3))
