"""The holder of a run's lock stores what follows, and leaves nothing of what did not come to be."""

import os
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.wf_artifacts.samples import checkpoint, environment, following, inputs, record, trace
from wf_artifacts.runs.files import trace as segments
from wf_artifacts.runs.files.folder import RunFolder
from wf_artifacts.runs.files.holder import Holder, new_run
from wf_artifacts.runs.models import RunRecord
from wf_artifacts.storage import atomic
from wf_artifacts.storage.home import Home

BEGUN = record()


class Announced:
    """What the holder announced, and how the run looked before and after."""

    def __init__(self, folder: RunFolder) -> None:
        self.statuses: list[tuple[str, str, str]] = []
        self._folder = folder

    def __call__(self, becoming: RunRecord) -> AbstractContextManager[None]:
        return self._announce(becoming)

    @contextmanager
    def _announce(self, becoming: RunRecord) -> Generator[None]:
        before = self._folder.head().record.status
        yield
        self.statuses.append((becoming.status, before, self._folder.head().record.status))


@pytest.fixture
def folder(home: Path) -> RunFolder:
    """A run that has just begun."""
    folder = RunFolder(Home(home), home / "runs" / BEGUN.run_id, BEGUN.run_id)
    for path in (folder.journal, folder.checkpoints):
        path.mkdir(parents=True)
    for one in new_run(folder, BEGUN, environment(), checkpoint(BEGUN), []).files:
        one.path.write_bytes(one.data)
    return folder


@pytest.fixture
def announced(folder: RunFolder) -> Announced:
    return Announced(folder)


@pytest.fixture
def holder(folder: RunFolder, announced: Announced) -> Iterator[Holder]:
    holder = Holder(folder, announced)
    yield holder
    holder.close()


def files(folder: RunFolder) -> set[str]:
    return {str(path.relative_to(folder.path)) for path in folder.path.rglob("*") if path.is_file()}


def indices(folder: RunFolder) -> list[int]:
    return [entry["index"] for entry in folder.trace(0, 10_000)]


def test_a_checkpoint_takes_in_what_was_appended(folder: RunFolder, holder: Holder) -> None:
    length = holder.append(inputs(BEGUN, 3, entries=2), sync=True)
    assert length == folder.inputs_path(1).stat().st_size
    assert (folder.record().trace_count, folder.record().steps_executed, indices(folder)) == (6, 3, [*range(6)])
    moved = following(folder.record(), entries=1)
    holder.commit(moved, checkpoint(moved), trace(folder.record()))
    assert folder.record() == moved
    assert folder.inputs().lines == []
    assert indices(folder) == [*range(7)]
    assert files(folder) == {"run.json", "environment.json", "checkpoints/000002.json", "journal/000001.jsonl"}


def test_a_commit_without_checkpoint_keeps_the_inputs_and_counts_on(folder: RunFolder, holder: Holder) -> None:
    given = inputs(BEGUN, 4, entries=1)
    holder.append(given[:2], sync=False)
    earlier = folder.record()
    moved = earlier.model_copy(update={"trace_count": 3, "outcome": "so far"})
    holder.commit(moved, None, trace(earlier))
    assert folder.record() == moved
    holder.append(inputs(BEGUN.model_copy(update={"trace_count": 1}), 2, entries=1, since=2), sync=False)
    assert len(folder.inputs().lines) == 4
    assert indices(folder) == [*range(5)]
    assert (folder.record().trace_count, folder.record().outcome) == (5, "so far")


def test_the_next_holder_goes_on_where_the_last_one_died(
    folder: RunFolder, holder: Holder, announced: Announced
) -> None:
    holder.append(inputs(BEGUN, 2, entries=2), sync=False)
    torn = folder.inputs_path(1).read_bytes()
    holder.append(inputs(BEGUN, 1, entries=2, since=2), sync=False)
    folder.inputs_path(1).write_bytes(torn + b'{"n":4,"entr')
    following_holder = Holder(folder, announced)
    following_holder.tidy()
    assert folder.inputs_path(1).read_bytes() == torn
    following_holder.append(inputs(BEGUN, 1, entries=2, since=2), sync=True)
    assert indices(folder) == [*range(6)]
    moved = following(folder.record(), entries=0)
    following_holder.commit(moved, checkpoint(moved), [])
    assert indices(folder) == [*range(6)]


def test_room_is_given_up_at_the_end_and_by_the_next_holder_after_a_crash(
    folder: RunFolder, holder: Holder, announced: Announced
) -> None:
    path = folder.inputs_path(1)
    length = [holder.append(inputs(BEGUN, since=since), sync=True) for since in range(4)][-1]
    if atomic.CAN_SYNC_DATA:
        assert path.stat().st_size > length
    with_room = path.read_bytes()
    holder.close()
    assert path.stat().st_size == length
    path.write_bytes(with_room)
    assert (len(folder.inputs().lines), folder.record().trace_count, indices(folder)) == (4, 4, [0, 1, 2, 3])
    Holder(folder, announced).tidy()
    assert path.stat().st_size == length


def test_whoever_reads_while_lines_are_written_sees_those_that_are_there(folder: RunFolder, holder: Holder) -> None:
    """A line may go over the end of a page, and is written page by page."""

    def write() -> None:
        for since in range(300):
            holder.append(inputs(BEGUN, since=since), sync=True)

    seen = 0
    with ThreadPoolExecutor(1) as threads:
        writing = threads.submit(write)
        while not writing.done():
            count = folder.record().trace_count
            assert seen <= count <= len(folder.inputs().lines)
            assert [entry["index"] for entry in folder.trace(seen, 1000)][: count - seen] == [*range(seen, count)]
            seen = count
        writing.result()


def test_a_line_of_which_the_end_is_seen_before_the_beginning_is_read_again(
    folder: RunFolder, holder: Holder, announced: Announced, home: Path
) -> None:
    class Early(Home):
        """Reads a file for the first time while a line of it is written."""

        is_early = True

        def read(self, path: Path) -> bytes | None:
            data = super().read(path)
            if data is None or not path.name.startswith("inputs") or not self.is_early:
                return data
            self.is_early = False
            return data[:-60] + bytes(30) + data[-30:]

    holder.append(inputs(BEGUN, 2), sync=True)
    early = RunFolder(Early(home), folder.path, folder.run_id)
    assert len(early.inputs().lines) == 2


def test_everybody_takes_a_page_that_the_disk_was_not_given_for_the_end(folder: RunFolder, holder: Holder) -> None:
    holder.append(inputs(BEGUN, 2), sync=True)
    holder.append([replace(inputs(BEGUN, since=2)[0], line=b'{"text":"%b"}' % (b"x" * 9_000))], sync=False)
    assert folder.record().trace_count == 3
    path = folder.inputs_path(1)
    data = path.read_bytes()
    path.write_bytes(data[:4096] + bytes(4096) + data[8192:])
    assert (len(folder.inputs().lines), folder.record().trace_count, indices(folder)) == (2, 2, [0, 1])
    assert folder.trace(1, 5) == folder.trace(0, 5)[1:]


def test_what_was_never_committed_is_removed(folder: RunFolder, holder: Holder) -> None:
    before = files(folder)
    for name in (
        "checkpoints/000002.json",
        "journal/000001.jsonl",
        "journal/000002.jsonl",
        "journal/inputs_000002.jsonl",
        ".run.json.tmp",
    ):
        (folder.path / name).write_bytes(b"half of som")
    holder.tidy()
    assert files(folder) == before


def test_a_commit_that_does_not_follow_changes_nothing(folder: RunFolder, holder: Holder) -> None:
    holder.append(inputs(BEGUN, 1, entries=1), sync=True)
    before = {path: path.read_bytes() for path in folder.path.rglob("*") if path.is_file()}
    forgetful = following(BEGUN)
    with pytest.raises(ValueError, match="do not make"):
        holder.commit(forgetful, checkpoint(forgetful), trace(BEGUN))
    assert {path: path.read_bytes() for path in folder.path.rglob("*") if path.is_file()} == before


def test_only_a_change_of_status_is_announced_and_from_before_to_after(
    folder: RunFolder, holder: Holder, announced: Announced
) -> None:
    for status in ("running", "interrupted", "running", "running", "completed"):
        moved = following(folder.record(), entries=0, status=status)
        holder.commit(moved, checkpoint(moved), [])
    assert announced.statuses == [
        ("interrupted", "running", "interrupted"),
        ("running", "interrupted", "running"),
        ("completed", "running", "completed"),
    ]


def test_what_a_step_stores_does_not_depend_on_the_steps_before(
    folder: RunFolder, holder: Holder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bytes written for 100 steps that are appended one by one and folded: the 50th time as the second."""
    monkeypatch.setattr(segments, "SEGMENT_BYTES", 20_000)
    written: list[int] = []
    pwrite = os.pwrite

    def counted(descriptor: int, data: memoryview, offset: int) -> int:
        written[-1] += len(data)
        return pwrite(descriptor, data, offset)

    monkeypatch.setattr(os, "pwrite", counted)
    for _ in range(50):
        written.append(0)
        earlier = folder.record()
        for since in range(100):
            holder.append(inputs(earlier, since=since), sync=False)
        moved = following(folder.record(), entries=0)
        holder.commit(moved, checkpoint(moved), [])
    assert max(written[1:]) / min(written[1:]) < 1.2
    assert max(path.stat().st_size for path in folder.journal.iterdir()) < 40_000
