"""What was appended is there whole and in order; a torn end is not, and damage is told."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from zlib import crc32

import pytest

from tests.documents import plain
from tests.wf_artifacts.points import at_change, no_room
from tests.wf_artifacts.samples import new_run_id
from wf_artifacts.runs.files import inputs
from wf_artifacts.runs.files.inputs import INPUTS_HEADER, NO_INPUTS, Inputs, InputsFile, InputsHeader, Progress
from wf_artifacts.runs.models import JournalRecord
from wf_artifacts.storage.steps import observed
from wf_core.codec import envelope
from wf_core.errors import StateCorrupt

RUN = new_run_id()
HEADER = InputsHeader(run_id=RUN, checkpoint=3)
BEFORE = Progress(trace_count=10, steps_executed=4, position=None)


def given(position: int, *entries: int, length: int = 0) -> JournalRecord:
    """An input that made the trace entries with these numbers."""
    line = b'{"input":%d,"text":"%b"}' % (position, b"x" * length)
    return JournalRecord(line, tuple(b'{"index":%d}' % entry for entry in entries), position, position)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return inputs.inputs_path(tmp_path, 3)


@pytest.fixture
def file(path: Path) -> Iterator[InputsFile]:
    file = InputsFile(path, HEADER, NO_INPUTS, BEFORE)
    yield file
    file.close()


def parsed(path: Path) -> Inputs:
    return inputs.parse(path.read_bytes(), path.name, run_id=RUN, checkpoint=3)


def entries(path: Path, numbers: range) -> list[int]:
    with path.open("rb") as opened:
        return [entry["index"] for entry in inputs.read_entries(opened, path.name, numbers)]


def progress(path: Path) -> Progress | None:
    with path.open("rb") as opened:
        return inputs.last_progress(opened, path.name)


def test_inputs_come_back_in_order_with_what_they_made(path: Path, file: InputsFile) -> None:
    file.append([given(7), given(8, 10, 11)], sync=True)
    file.append([given(9, 12)], sync=False)
    assert parsed(path).lines == [
        b'{"position":7,"input":{"input":7,"text":""},"trace":[]}',
        b'{"position":8,"input":{"input":8,"text":""},"trace":[{"index":10},{"index":11}]}',
        b'{"position":9,"input":{"input":9,"text":""},"trace":[{"index":12}]}',
    ]
    assert parsed(path).progress == progress(path) == file.progress == Progress(13, 9, 9)
    assert parsed(path).length == file.length == path.stat().st_size


def test_every_trace_entry_is_found_in_the_line_that_made_it(path: Path, file: InputsFile) -> None:
    made = [given(1), given(2, 10), given(3), given(4), given(5, 11, 12, 13), given(6, length=50_000), given(7, 14)]
    for record in made:
        file.append([record], sync=False)
    for start in range(10, 15):
        for stop in range(start + 1, 16):
            assert entries(path, range(start, stop)) == list(range(start, stop))


def test_an_entry_that_is_not_there_is_damage(path: Path, file: InputsFile) -> None:
    file.append([given(1, 10)], sync=False)
    with pytest.raises(StateCorrupt, match="entry 11 is missing"):
        entries(path, range(10, 12))


def test_an_append_is_one_write_and_is_synced_only_when_asked(path: Path, file: InputsFile) -> None:
    acts: list[str] = []
    file.append([given(1)], sync=False)
    with observed(lambda one: acts.append(one.act) if one.moment == "before" else None):
        file.append([given(2, 10), given(3, 11)], sync=False)
        for position in (4, 5):
            file.append([given(position, length=20_000)], sync=True)  # too long to be worth room
    assert acts == ["write", "write", "fsync", "fsync", "write", "fsync"]  # the first time with its folder


def test_inputs_that_do_not_follow_are_refused(path: Path, file: InputsFile) -> None:
    file.append([given(7)], sync=False)
    before = path.read_bytes()
    for refused in ([given(9)], [given(8), given(8)], [JournalRecord(b"{\n}", (), 1, 8)], [given(7)]):
        with pytest.raises(ValueError, match=r"does not follow|one JSON object"):
            file.append(refused, sync=True)
    assert path.read_bytes() == before


def test_a_torn_end_does_not_count_and_is_written_over(path: Path, file: InputsFile) -> None:
    file.append([given(1, 10)], sync=True)
    whole = path.read_bytes()
    file.append([given(2, 11, length=3_000)], sync=True)
    longer = path.read_bytes()
    for cut in range(len(whole), len(longer), 97):
        path.write_bytes(longer[:cut])
        found = parsed(path)
        assert (len(found.lines), found.length) == (1, len(whole))
        assert progress(path) == Progress(11, 1, 1)
        assert entries(path, range(10, 11)) == [10]
        again = InputsFile(path, HEADER, found, Progress(11, 1, 1))
        again.append([given(2, 11)], sync=True)
        again.close()
        assert len(parsed(path).lines) == 2


def test_zeros_that_a_power_cut_leaves_at_the_end_do_not_count(path: Path, file: InputsFile) -> None:
    file.append([given(1, 10)], sync=True)
    path.write_bytes(path.read_bytes() + b'{"n":11,"ent' + bytes(4096))
    assert len(parsed(path).lines) == 1
    assert progress(path) == Progress(11, 1, 1)


def with_a_hole(path: Path, line: int, *, newline: bool = True) -> None:
    """Let a line of the file, counted without the header, hold zeros, as a block that was never written does."""
    lines = path.read_bytes().splitlines(keepends=True)
    hurt = lines[line + 1]
    lines[line + 1] = hurt[:9] + bytes(len(hurt) - 10) + (b"\n" if newline else b"\0")
    path.write_bytes(b"".join(lines))


@pytest.mark.parametrize("newline", [True, False])
def test_lines_that_were_not_synced_do_not_count_from_a_hole_on(path: Path, file: InputsFile, newline: bool) -> None:
    """A machine that dies may have written the later of them, and not the earlier ones."""
    file.append([given(1, 10), given(2)], sync=True)
    kept = parsed(path)
    for position in (3, 4, 5):
        file.append([given(position, 8 + position)], sync=False)
    with_a_hole(path, 2, newline=newline)
    assert parsed(path) == kept
    again = InputsFile(path, HEADER, kept, Progress(11, 2, 2))
    again.append([given(3, 11)], sync=False)
    again.close()
    assert parsed(path).lines == [*kept.lines, b'{"position":3,"input":{"input":3,"text":""},"trace":[{"index":11}]}']


def test_a_file_of_which_nothing_was_synced_does_not_count_where_its_beginning_is_lost(
    path: Path, file: InputsFile
) -> None:
    for position in (1, 2):
        file.append([given(position)], sync=False)
    path.write_bytes(bytes(30) + path.read_bytes()[30:])
    assert parsed(path) == NO_INPUTS


@pytest.mark.parametrize("line", [0, 1])
def test_a_hole_in_what_was_synced_is_damage(path: Path, file: InputsFile, line: int) -> None:
    for position in (1, 2):
        file.append([given(position)], sync=True)
    for position in (3, 4):
        file.append([given(position)], sync=False)
    with_a_hole(path, line)
    with pytest.raises(StateCorrupt):
        parsed(path)


def test_a_hole_before_a_synced_line_is_damage(path: Path, file: InputsFile) -> None:
    """Whoever syncs a line syncs those before it, and tells of it."""
    file.append([given(1), given(2)], sync=False)
    file.append([given(3)], sync=True)
    file.append([given(4)], sync=False)
    with_a_hole(path, 1)
    with pytest.raises(StateCorrupt):
        parsed(path)


def test_a_hurt_last_line_is_damage_because_it_may_have_been_synced(path: Path, file: InputsFile) -> None:
    file.append([given(1)], sync=True)
    file.append([given(2), given(3)], sync=False)
    with_a_hole(path, 2)
    with pytest.raises(StateCorrupt):
        parsed(path)


@pytest.mark.parametrize("room", [b"", bytes(20)])
def test_another_byte_in_place_of_the_last_line_break_is_damage(path: Path, file: InputsFile, room: bytes) -> None:
    """Nobody but a crash leaves a line without its end, and then nothing stands there, or zeros."""
    for position in (1, 2):
        file.append([given(position)], sync=True)
    data = path.read_bytes()[: file.length - 1]
    for torn in (data, data + b"\0"):
        path.write_bytes(torn + room)
        assert len(parsed(path).lines) == 1
    for byte in (b" ", b"\x0b", b"}"):
        path.write_bytes(data + byte + room)
        with pytest.raises(StateCorrupt, match="another byte stands where its last line ends"):
            parsed(path)


def test_a_line_that_is_missing_among_those_that_were_not_synced_ends_what_counts(path: Path, file: InputsFile) -> None:
    for position in (1, 2, 3):
        file.append([given(position)], sync=False)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], *lines[3:]]))
    assert len(parsed(path).lines) == 1


def test_a_file_of_version_1_is_gone_on_with_as_it_is(path: Path, file: InputsFile) -> None:
    """Whoever wrote it reads it still. Its lines do not say what is safe, so a hole in them is damage."""
    file.append([given(1, 10), given(2)], sync=False)
    file.close()
    path.write_bytes(old_form(path.read_bytes()))
    found = parsed(path)
    assert (len(found.lines), found.safe) == (2, None)
    again = InputsFile(path, HEADER, found, Progress(11, 2, 2))
    again.append([given(3)], sync=True)
    again.close()
    assert b"safe" not in path.read_bytes()
    assert len(parsed(path).lines) == 3
    with_a_hole(path, 1)
    with pytest.raises(StateCorrupt):
        parsed(path)


def old_form(data: bytes) -> bytes:
    """Take out what version 2 added."""
    header, *lines = data.splitlines()
    bodies = [re.sub(rb'"safe":\d+,', b"", line.rpartition(b',"crc32":')[0]) for line in lines]
    old = [re.sub(rb',"first":\d+', b"", plain(header, 1)), *(b'%b,"crc32":%d}' % (one, crc32(one)) for one in bodies)]
    return b"".join(line + b"\n" for line in old)


def test_a_torn_first_line_is_no_line(path: Path) -> None:
    path.write_bytes(INPUTS_HEADER.encode(HEADER)[:-5])
    assert parsed(path) == NO_INPUTS
    assert progress(path) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [(b'"input":2', b'"input":3'), (b'"index":11', b'"index":12'), (b'"crc32"', b'"crc33"'), (b'{"n":11', b'{"n":12')],
)
def test_a_line_that_says_something_else_than_was_written_is_damage(
    path: Path, file: InputsFile, old: bytes, new: bytes
) -> None:
    """Also the last one: it may have been acknowledged."""
    file.append([given(1, 10)], sync=True)
    file.append([given(2, 11)], sync=True)
    head, _, last = path.read_bytes().rpartition(b'{"n":11')
    path.write_bytes(head + (b'{"n":11' + last).replace(old, new))
    with pytest.raises(StateCorrupt, match="a line is not what was written"):
        parsed(path)
    with pytest.raises(StateCorrupt, match="a line is not what was written"):
        progress(path)


def test_a_line_that_is_missing_is_damage(path: Path, file: InputsFile) -> None:
    for position in (1, 2, 3):
        file.append([given(position)], sync=True)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], *lines[3:]]))
    with pytest.raises(StateCorrupt, match="position 3 does not follow 1"):
        parsed(path)


def test_a_first_line_that_is_missing_is_damage(path: Path, file: InputsFile) -> None:
    """The header says with which position the file begins."""
    for position in (7, 8, 9):
        file.append([given(position, position)], sync=True)
    header, _, *rest = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([header, *rest]))
    with pytest.raises(StateCorrupt, match="it begins with position 8, not 7"):
        parsed(path)


def test_a_header_of_an_earlier_version_does_not_say_where_the_file_begins(path: Path, file: InputsFile) -> None:
    for position in (7, 8):
        file.append([given(position, position + 3)], sync=True)
    header, *lines = path.read_bytes().splitlines(keepends=True)
    earlier = envelope.dump("wf.run_inputs", 3, {"run_id": RUN, "checkpoint": 3}) + b"\n"
    assert json.loads(header)["body"]["first"] == 7
    path.write_bytes(b"".join([earlier, *lines]))
    assert (len(parsed(path).lines), parsed(path).first_entry) == (2, 10)
    path.write_bytes(b"".join([earlier, *lines[1:]]))
    assert (len(parsed(path).lines), parsed(path).first_entry) == (1, 11)


def reordered(path: Path, file: InputsFile, *order: int) -> None:
    """Write three lines of one entry each, and put them in this order."""
    for position in (1, 2, 3):
        file.append([given(position, 9 + position)], sync=True)
    header, *lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([header, *(lines[number] for number in order)]))


@pytest.mark.parametrize("order", [(0, 2, 1), (1, 0, 2), (2, 1, 0), (0, 2)])
def test_lines_that_do_not_follow_one_another_are_told(path: Path, file: InputsFile, order: tuple[int, ...]) -> None:
    reordered(path, file, *order)
    with pytest.raises(StateCorrupt):
        parsed(path)
    with pytest.raises(StateCorrupt):
        entries(path, range(10, 13))
    if order != (1, 0, 2):
        with pytest.raises(StateCorrupt, match="does not follow the one before"):
            progress(path)


@pytest.mark.parametrize("order", [(0, 0, 1, 2), (0, 1, 1, 2), (0, 1, 2, 2)])
def test_a_line_that_stands_there_twice_gives_its_entries_once(
    path: Path, file: InputsFile, order: tuple[int, ...]
) -> None:
    reordered(path, file, *order)
    for start in range(10, 13):
        with suppress(StateCorrupt):
            assert entries(path, range(start, 13)) == [*range(start, 13)]
    if order[-1] == order[-2]:
        with pytest.raises(StateCorrupt, match="position 3 does not follow the one before"):
            progress(path)
        assert len(parsed(path).lines) == 3
    else:
        with pytest.raises(StateCorrupt):
            parsed(path)


def test_the_file_of_another_checkpoint_is_damage(path: Path, file: InputsFile) -> None:
    file.append([given(1)], sync=True)
    with pytest.raises(StateCorrupt, match="it belongs to checkpoint 3 of"):
        inputs.parse(path.read_bytes(), path.name, run_id=RUN, checkpoint=4)


def test_an_append_that_fails_anywhere_leaves_the_file_as_it_was(path: Path, file: InputsFile) -> None:
    file.append([given(1, 10)], sync=True)
    before = path.read_bytes()
    position = 2
    for point in range(20):
        with at_change(point, no_room) as reached:
            try:
                file.append([given(position, 11, length=500)], sync=True)
            except OSError:
                assert path.read_bytes() == before
                assert file.progress == Progress(11, 1, 1)
        if not reached():
            break
    assert len(parsed(path).lines) == 2


def test_what_a_failed_append_could_not_remove_the_next_one_does(path: Path, file: InputsFile) -> None:
    file.append([given(1, 10)], sync=True)
    with at_change(0, no_room, once=False), pytest.raises(OSError, match="scripted"):
        file.append([given(2, 11, length=500)], sync=True)
    path.write_bytes(path.read_bytes() + b"as if the write had come further\n")
    file.append([given(2, 11)], sync=True)
    assert len(parsed(path).lines) == 2


def test_entries_are_found_among_what_was_read_as_a_whole(path: Path, file: InputsFile) -> None:
    file.append([given(1, 10), given(2), given(3, 11, 12)], sync=False)
    found = parsed(path)
    for start in range(10, 13):
        for stop in range(start, 14):
            assert [one["index"] for one in found.entries("a", range(start, stop))] == [*range(start, stop)]
    for missing, numbers in ((13, range(12, 14)), (9, range(9, 11))):
        with pytest.raises(StateCorrupt, match=f"entry {missing} is missing"):
            found.entries("a", numbers)
    with pytest.raises(StateCorrupt, match="entry 7 is missing"):
        NO_INPUTS.entries("a", range(7, 8))


def test_finding_the_last_line_reads_hardly_more_than_that(path: Path, file: InputsFile) -> None:
    for position in range(1, 200):
        file.append([given(position, length=1_000)], sync=False)
    data = bytearray(path.read_bytes())
    data[500:-3_500] = b"#" * (len(data) - 4_000)
    path.write_bytes(data)
    assert progress(path) == Progress(10, 199, 199)


def test_a_last_line_of_any_length_is_found(path: Path, file: InputsFile) -> None:
    for position, length in enumerate((16_000, 16_384, 100_000, 0), 1):
        file.append([given(position, length=length)], sync=False)
        assert progress(path) == Progress(10, position, position)
