"""Room behind the inputs makes their appends cheaper, and is never taken for something that was written."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.wf_artifacts.points import at_change, no_room
from tests.wf_artifacts.runs.files.test_inputs import BEFORE, HEADER, entries, given, old_form, parsed, progress
from wf_artifacts.runs.files import inputs
from wf_artifacts.runs.files.inputs import NO_INPUTS, InputsFile, Progress
from wf_artifacts.runs.files.room import LEAST_ROOM, MOST_ROOM, content_length
from wf_artifacts.storage import atomic
from wf_artifacts.storage.places import LATELY_SECONDS
from wf_artifacts.storage.steps import Step, observed
from wf_core.errors import StateCorrupt

pytestmark = pytest.mark.skipif(not atomic.CAN_SYNC_DATA, reason="room needs fdatasync")

PAGE = 4096


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return inputs.inputs_path(tmp_path, 3)


@pytest.fixture
def file(path: Path) -> Iterator[InputsFile]:
    file = InputsFile(path, HEADER, NO_INPUTS, BEFORE)
    yield file
    file.close()


def room(path: Path) -> int:
    data = path.read_bytes()
    return len(data) - content_length(data)


def appended(file: InputsFile, *positions: int, sync: bool = True, length: int = 0) -> None:
    for position in positions:
        file.append([given(position, 9 + position, length=length)], sync=sync)
        if sync:
            file.synced()


def acts_of(file: InputsFile, *positions: int, sync: bool = True, length: int = 0) -> list[str]:
    acts: list[str] = []
    with observed(lambda one: acts.append(one.act) if one.moment == "before" else None):
        appended(file, *positions, sync=sync, length=length)
    return acts


def hole(path: Path, begin: int, end: int) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:begin] + bytes(end - begin) + data[end:])


def test_the_third_synced_append_makes_room_and_those_after_it_sync_only_what_they_write(
    path: Path, file: InputsFile
) -> None:
    assert acts_of(file, 1, 2) == ["write", "fsync", "fsync", "write", "fsync"]
    assert room(path) == 0
    assert acts_of(file, 3) == ["write", "write", "fsync"]
    assert room(path) >= LEAST_ROOM
    assert path.stat().st_size % PAGE == 0
    assert acts_of(file, 4, 5) == ["write", "fdatasync"] * 2
    assert acts_of(file, 6, sync=False) == ["write"]
    assert acts_of(file, 7) == ["write", "fdatasync"]
    assert len(parsed(path).lines) == 7
    assert parsed(path).length == file.length == path.stat().st_size - room(path)
    assert progress(path) == file.progress == Progress(17, 7, 7)
    assert entries(path, range(10, 17)) == [*range(10, 17)]


def test_room_grows_with_the_file_up_to_a_bound(path: Path, file: InputsFile) -> None:
    acts = acts_of(file, *range(1, 1001), length=300)
    assert acts.count("fsync") < 20
    assert acts.count("fdatasync") > 980
    assert room(path) < MOST_ROOM + PAGE
    assert len(parsed(path).lines) == 1000


def test_what_was_not_synced_and_goes_beyond_the_room_is_synced_with_the_size(path: Path, file: InputsFile) -> None:
    appended(file, 1, 2, 3)
    appended(file, 4, sync=False, length=2 * LEAST_ROOM)
    assert acts_of(file, 5) == ["write", "write", "fsync"]
    assert acts_of(file, 6) == ["write", "fdatasync"]
    assert len(parsed(path).lines) == 6


def test_long_lines_are_not_worth_room(path: Path, file: InputsFile) -> None:
    appended(file, 1, 2, 3, 4, 5, length=2 * LEAST_ROOM)
    assert room(path) == 0


def test_where_data_cannot_be_synced_alone_there_is_no_room(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(atomic, "CAN_SYNC_DATA", False)
    file = InputsFile(path, HEADER, NO_INPUTS, BEFORE)
    appended(file, 1, 2, 3)
    assert acts_of(file, 4, 5) == ["write", "fsync"] * 2
    file.close()
    assert room(path) == 0


def test_the_room_is_given_up_at_the_end_and_made_again(path: Path, file: InputsFile) -> None:
    appended(file, 1, 2, 3, 4)
    file.trim()
    assert path.stat().st_size == file.length == parsed(path).length
    assert acts_of(file, 5) == ["write", "write", "fsync"]
    file.trim()
    file.close()
    assert path.stat().st_size == file.length
    assert len(parsed(path).lines) == 5


def test_a_file_with_room_that_nobody_gave_up_is_gone_on_with(path: Path, file: InputsFile) -> None:
    appended(file, 1, 2, 3, 4)
    file.close()
    found = parsed(path)
    again = InputsFile(path, HEADER, found, replace(file.progress))
    appended(again, 5, 6)
    again.close()
    assert len(parsed(path).lines) == 6


def test_a_file_without_room_is_gone_on_with_as_before_and_one_of_version_1_gets_none(
    path: Path, file: InputsFile
) -> None:
    appended(file, 1, 2, 3, sync=False)
    file.close()
    path.write_bytes(old_form(path.read_bytes()))
    old = InputsFile(path, HEADER, parsed(path), file.progress)
    appended(old, 4, 5)
    old.close()
    assert room(path) == 0
    assert len(parsed(path).lines) == 5


def test_killed_at_any_moment_it_is_as_before_an_append_or_after(path: Path, file: InputsFile) -> None:
    """What a process that is killed has written stays: the file is looked at at each moment."""
    seen: list[tuple[Step, int]] = []
    position = 0

    def look(step: Step) -> None:
        if path.exists():
            found = parsed(path)
            assert progress(path) == found.progress
            seen.append((step, len(found.lines) - position))

    with observed(look):
        for position in range(8):
            appended(file, position + 1, length=500)
        position = 8
        file.trim()
    assert {more for _, more in seen} == {0, 1}
    assert {more for step, more in seen if step.act in {"fsync", "fdatasync"} and step.what == path.name} == {1}
    assert {step.act for step, _ in seen} == {"write", "fsync", "fdatasync", "truncate"}
    assert path.stat().st_size == file.length


@pytest.mark.parametrize("once", [True, False])
@pytest.mark.parametrize("has_room", [True, False])
def test_an_append_that_fails_anywhere_loses_nothing(path: Path, file: InputsFile, once: bool, has_room: bool) -> None:
    appended(file, 1, 2, 3, 4)
    position = 5
    point = 0
    for point in range(20):
        if not has_room:
            file.trim()
            file.close()
            file = InputsFile(path, HEADER, parsed(path), file.progress)
        with at_change(point, no_room, once=once) as reached:
            try:
                appended(file, position, length=300)
            except OSError:
                if once:
                    assert len(parsed(path).lines) == position - 1
                    assert room(path) == 0
            else:
                position += 1
        appended(file, position)
        position += 1
        assert len(parsed(path).lines) == position - 1
        assert progress(path) == file.progress
        if not reached():
            break
    file.close()
    assert point >= (3 if has_room else 5)


def test_what_is_waited_for_later_is_written_at_once_and_synced_then(path: Path, file: InputsFile) -> None:
    appended(file, 1, 2, 3)
    acts: list[str] = []
    with observed(lambda one: acts.append(one.act) if one.moment == "before" else None):
        file.append([given(4, 13)], sync=True)
        assert acts == ["write"]
        assert len(parsed(path).lines) == 4
        file.synced()
        file.synced()
    assert acts == ["write", "fdatasync"]


def test_what_is_waited_for_later_and_fails_is_removed(path: Path, file: InputsFile) -> None:
    appended(file, 1, 2, 3)
    appended(file, 4, sync=False)
    before = file.progress, file.length
    file.append([given(5, 14)], sync=True)
    file.append([given(6, 15)], sync=True)
    with at_change(0, no_room), pytest.raises(OSError, match="scripted"):
        file.synced()
    assert (file.progress, file.length) == before
    assert len(parsed(path).lines) == 4
    appended(file, 5, 6)
    assert progress(path) == file.progress


def test_a_file_that_was_removed_is_told_of_when_it_is_looked_at(
    path: Path, file: InputsFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 7.0
    monkeypatch.setattr("wf_artifacts.runs.files.room.monotonic", lambda: now)
    appended(file, 1, 2, 3)
    file.append([given(4, 13)], sync=True)
    path.unlink()
    file.synced()
    now += LATELY_SECONDS
    file.append([given(5, 14)], sync=True)
    with pytest.raises(FileNotFoundError, match="removed"):
        file.synced()
    assert not path.exists()


def test_a_disk_that_is_too_full_for_room_is_done_without_it(
    path: Path, file: InputsFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    appended(file, 1, 2)
    before = file.length
    write_at = atomic.write_at

    def full(descriptor: int, path: Path, data: bytes, *, at: int) -> None:
        write_at(descriptor, path, data[:1000], at=at)
        if len(data) > 1000:
            no_room()

    monkeypatch.setattr(atomic, "write_at", full)
    appended(file, 3, 4)
    monkeypatch.undo()
    assert file.length > before
    assert room(path) == 0
    assert len(parsed(path).lines) == 4
    assert acts_of(file, 5) == ["write", "fsync"]


def filled(path: Path, file: InputsFile, *, synced: int, unsynced: int, length: int) -> tuple[bytes, int]:
    """Append so in room that was there before. Give what the file held, and how many lines, after the last sync."""
    position = 1
    while position < 4 or room(path) < (synced + unsynced) * (length + 300):
        appended(file, position, length=300)
        position += 1
    appended(file, *range(position, position + synced), length=length)
    position += synced
    kept = path.read_bytes()
    appended(file, *range(position, position + unsynced), sync=False, length=length)
    assert path.stat().st_size == len(kept)
    return kept, position - 1


def test_pages_that_were_never_written_end_what_was_not_synced(path: Path, file: InputsFile) -> None:
    """Whatever pages a disk has of the lines that were not synced, those before are there, and nothing is damage."""
    kept, safe = filled(path, file, synced=1, unsynced=10, length=1_000)
    whole = path.read_bytes()
    last = content_length(kept) // PAGE
    pages = range(last, -(-file.length // PAGE))
    assert len(pages) >= 3
    for written in range(2 ** len(pages)):
        path.write_bytes(kept)
        data = bytearray(kept)
        for number, page in enumerate(pages):
            if written >> number & 1:
                data[page * PAGE : (page + 1) * PAGE] = whole[page * PAGE : (page + 1) * PAGE]
        path.write_bytes(data)
        found = parsed(path)
        assert safe <= len(found.lines) <= safe + 10
        assert whole.startswith(bytes(data[: found.length]))
        again = InputsFile(path, HEADER, found, found.progress or BEFORE)
        appended(again, len(found.lines) + 1)
        again.close()
        assert len(parsed(path).lines) == len(found.lines) + 1


def test_long_lines_that_were_not_synced_and_lack_a_page_do_not_count(path: Path, file: InputsFile) -> None:
    kept, _ = filled(path, file, synced=0, unsynced=1, length=9_000)
    begin = -(-content_length(kept) // PAGE) * PAGE
    hole(path, begin, begin + PAGE)
    assert path.read_bytes().rstrip(b"\0").endswith(b"}\n")
    assert parsed(path).length == content_length(kept)


def test_a_page_that_is_lost_of_what_was_acknowledged_is_damage(path: Path, file: InputsFile) -> None:
    appended(file, *range(1, 30), length=400)
    for page in range(file.length // PAGE):
        whole = path.read_bytes()
        hole(path, page * PAGE, (page + 1) * PAGE)
        with pytest.raises(StateCorrupt):
            parsed(path)
        path.write_bytes(whole)


def test_zeros_that_no_disk_leaves_are_damage(path: Path, file: InputsFile) -> None:
    filled(path, file, synced=2, unsynced=0, length=400)
    hole(path, file.length - 100, file.length - 50)
    with pytest.raises(StateCorrupt):
        parsed(path)
