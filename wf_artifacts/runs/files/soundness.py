"""What is wrong with one run on disk.

A document that cannot be read ends a run that is open: a repair takes it away, whole, because nobody can go on with it.
Of a run that has ended the rest can still be shown, so it stays.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal

from wf_artifacts.errors import RunNotFound
from wf_artifacts.runs.files.folder import Head, RunFolder
from wf_artifacts.runs.files.room import content_length
from wf_artifacts.runs.files.trace import segment_path
from wf_artifacts.storage.atomic import is_temporary
from wf_artifacts.storage.findings import MOVES_IT, MOVES_RUN, Fault, Finding, LostAndFound, unreadable
from wf_artifacts.storage.moments import Moment, settled_faults
from wf_core.errors import StateError
from wf_core.state import FINAL

_OURS: Final = re.compile(r"(inputs_)?\d{6,}\.jsonl?")
"""The names of checkpoints, of segments of the trace, and of inputs."""


def faults(folder: RunFolder, lost: LostAndFound, take_away: Callable[[], None]) -> list[Fault]:
    """Give what is wrong with a run; nothing of one that moves on too fast to tell.

    `take_away` moves the whole run to lost+found. Like every repair it is done under the lock of the run, if nobody has
    it and the run is as it was found.
    """
    return settled_faults(folder, lambda moment: _Run(folder, moment, lost, take_away).faults())


class _Run:
    """A run as it is at one moment."""

    def __init__(self, folder: RunFolder, moment: Moment, lost: LostAndFound, take_away: Callable[[], None]) -> None:
        self._folder = folder
        self._lost = lost
        self._take_away = take_away
        self._moment = moment

    def faults(self) -> Iterator[Fault]:
        folder = self._folder
        try:
            head = folder.head()
        except RunNotFound:
            if not self._moment.held:
                yield self._orphaned()
        except StateError as error:
            yield self._unreadable(folder.head_path, error, ended=False)
        else:
            yield from self._unreadable_documents(head)
            if not self._moment.held:
                yield from self._surplus(head)
                yield from self._uncommitted(head)

    def _unreadable_documents(self, head: Head) -> Iterator[Fault]:
        folder = self._folder
        needed: dict[Path, Callable[[], object]] = {
            folder.environment_path: folder.environment,
            folder.checkpoint_path(head.checkpoint.sequence): folder.checkpoint,
            folder.inputs_path(head.checkpoint.sequence): folder.inputs,
        }
        for path, read in needed.items():
            try:
                read()
            except StateError as error:
                yield self._unreadable(path, error, ended=head.record.status in FINAL)
        with folder.home.translated(folder.journal):
            for path, error in folder.segments(head).damage(head.record.trace_count):
                yield unreadable(folder.home.document(path), error)

    def _surplus(self, head: Head) -> Iterator[Fault]:
        """Look for files and folders that the run does not have."""
        folder = self._folder
        named = {
            folder.head_path,
            folder.environment_path,
            folder.lock,
            folder.checkpoint_path(head.checkpoint.sequence),
            folder.inputs_path(head.checkpoint.sequence),
            *(segment_path(folder.journal, number) for number in range(1, head.segment.number + 1)),
        }
        for inside in (folder.path, folder.checkpoints, folder.journal):
            for name in folder.home.files(inside):
                if inside / name not in named:
                    ours = is_temporary(name) or (inside != folder.path and _OURS.fullmatch(name))
                    yield self._stray(inside / name, "leftover" if ours else "unknown")
            for name in folder.home.folders(inside):
                if inside / name not in {folder.checkpoints, folder.journal}:
                    yield self._stray(inside / name, "unknown")

    def _uncommitted(self, head: Head) -> Iterator[Fault]:
        """Look for what stands behind the end of what counts."""
        folder = self._folder
        segment = segment_path(folder.journal, head.segment.number)
        yield from self._end_of(segment, lambda: folder.home.size(segment), lambda: head.segment.length)
        inputs = folder.inputs_path(head.checkpoint.sequence)
        with suppress(StateError):
            # The room that a crash left behind it is nothing that was written.
            yield from self._end_of(
                inputs, lambda: content_length(folder.home.read(inputs) or b""), lambda: folder.inputs().length
            )

    def _end_of(self, path: Path, size: Callable[[], int], length: Callable[[], int]) -> Iterator[Fault]:
        home = self._folder.home

        def cut() -> None:
            if size() > length():
                self._lost.cut(path, at=length())

        surplus = size() - length()
        if surplus > 0:
            problem = f"A crash left {surplus} bytes at its end that do not count."
            finding = Finding(home.document(path), "leftover", problem, "Moves these bytes to lost+found.")
            yield Fault(finding, self._moment.mending(cut))

    def _unreadable(self, path: Path, error: StateError, *, ended: bool) -> Fault:
        document = self._folder.home.document(path)
        if ended:
            return unreadable(document, error)
        return unreadable(document, error, MOVES_RUN, self._moving_all())

    def _orphaned(self) -> Fault:
        document = self._folder.home.document(self._folder.path)
        return Fault(
            Finding(document, "orphaned", "It has no run.json, so it is no run.", MOVES_IT),
            self._moving_all(),
        )

    def _stray(self, path: Path, kind: Literal["leftover", "unknown"]) -> Fault:
        problem = "A crash left it; it does not count." if kind == "leftover" else "It belongs to no run."
        finding = Finding(self._folder.home.document(path), kind, problem, MOVES_IT)
        return Fault(finding, self._moment.mending(lambda: self._lost.move(path)))

    def _moving_all(self) -> Callable[[], None]:
        return self._moment.mending(self._take_away)
