"""One run on disk, for the one who holds its lock: what is stored next, and what is removed.

Where a change fails, what it wrote is removed again unless run.json already names it.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, cast

from wf_artifacts.runs.checkpoints import named
from wf_artifacts.runs.environment import ENVIRONMENT, PinnedEnvironment
from wf_artifacts.runs.files import trace
from wf_artifacts.runs.files.folder import HEAD, Head, RunFolder
from wf_artifacts.runs.files.inputs import NO_INPUTS, Inputs, InputsFile, InputsHeader, Progress
from wf_artifacts.runs.models import Checkpoint, JournalRecord, RunRecord
from wf_artifacts.runs.rules import require_next_state, trace_of
from wf_artifacts.storage import atomic
from wf_artifacts.storage.atomic import Writing
from wf_artifacts.storage.digests import bytes_digest
from wf_artifacts.storage.documents import corrupt
from wf_core import jsonvalue
from wf_core.errors import WfError

Announce = Callable[[RunRecord], AbstractContextManager[None]]
"""Held while the status of a run becomes that of a record."""


class NewRun(NamedTuple):
    """A run that is to be made."""

    head: Head
    files: list[Writing]


def new_run(
    folder: RunFolder,
    record: RunRecord,
    environment: PinnedEnvironment,
    checkpoint: Checkpoint,
    entries: Sequence[bytes],
) -> NewRun:
    """Give every file of a new run.

    Raises:
        NotJson: a value is no strict JSON.
    """
    pinned = ENVIRONMENT.encode(environment)
    pieces = list(trace.pieces(trace.NO_TRACE, folder.run_id, 0, entries))
    head = Head(
        record=record,
        checkpoint=named(checkpoint),
        environment_digest=bytes_digest(pinned),
        segment=pieces[-1].segment if pieces else trace.NO_TRACE,
    )
    files = [
        Writing(folder.head_path, HEAD.encode(head)),
        Writing(folder.environment_path, pinned),
        Writing(folder.checkpoint_path(checkpoint.sequence), checkpoint.state),
        *trace.writings(folder.journal, pieces),
    ]
    return NewRun(head, files)


@dataclass(slots=True)
class _State:
    head: Head
    inputs: InputsFile
    unfolded: list[bytes]
    """The trace entries that the record in `head` does not count."""


class Holder:
    """A run whose lock is held, and how far it is."""

    def __init__(self, folder: RunFolder, announce: Announce, head: Head | None = None) -> None:
        """Of a run that was just made the `head` says how far it is."""
        self._folder = folder
        self._announce = announce
        self._state = None if head is None else self._at_checkpoint(head)
        """None before the first change, and after one that failed: only the files know then."""

    def tidy(self) -> None:
        """Read how far the run is, and remove what run.json does not name: a holder that died may have left it.

        Raises:
            StateCorrupt: it cannot be read, or there is no folder for what comes next; nothing was removed.
        """
        folder = self._folder
        head = folder.head()
        if not folder.home.has(folder.journal):
            raise corrupt(folder.home.document(folder.journal), "it is missing")
        found = folder.inputs_since(head)
        checkpoint = folder.checkpoint_path(head.checkpoint.sequence)
        inputs = folder.inputs_path(head.checkpoint.sequence)
        last = trace.segment_path(folder.journal, head.segment.number)
        lengths = {last.name: head.segment.length, inputs.name: found.length}
        with folder.home.translated(folder.path):
            atomic.remove_temporary_files(folder.path)
            for name in folder.home.files(checkpoint.parent):
                if name != checkpoint.name:
                    atomic.unlink(checkpoint.with_name(name))
            for name in folder.home.files(folder.journal):
                # The full segments come before the last one, and everything else behind it.
                if name >= last.name:
                    _cut_or_remove(folder.journal / name, at=lengths.get(name, 0))
        unfolded = _entries_after(head.record.trace_count, found)
        count = head.record.trace_count + len(unfolded)
        steps = max(head.record.steps_executed, found.progress.steps_executed if found.progress else 0)
        position = found.progress.position if found.progress else None
        file = self._inputs_file(head, found, Progress(count, steps, position))
        self._state = _State(head, file, unfolded)

    def commit(self, record: RunRecord, checkpoint: Checkpoint | None, entries: Sequence[bytes]) -> None:
        """Store the next state, in one step."""
        state = self._known()
        earlier = state.head
        counted = {"trace_count": state.inputs.progress.trace_count}
        require_next_state(earlier.record.model_copy(update=counted), record, checkpoint, entries)
        unfolded = (*state.unfolded, *entries)
        pieces = list(trace.pieces(earlier.segment, record.run_id, earlier.record.trace_count, unfolded))
        head = Head(
            record=record,
            checkpoint=earlier.checkpoint if checkpoint is None else named(checkpoint),
            environment_digest=earlier.environment_digest,
            segment=pieces[-1].segment if pieces else earlier.segment,
        )
        folder = self._folder
        named_by_it = trace.writings(folder.journal, pieces)
        if checkpoint is not None:
            named_by_it.append(Writing(folder.checkpoint_path(checkpoint.sequence), checkpoint.state))
        next_head = Writing(atomic.temporary(folder.head_path), HEAD.encode(head))
        changing = nullcontext() if record.status == earlier.record.status else self._announce(record)
        with folder.home.translated(folder.path):
            try:
                state.inputs.synced()
                atomic.write_files([*named_by_it, next_head])
                for changed in {one.path.parent for one in named_by_it if one.at == 0}:
                    atomic.sync_folder(changed)
                with changing:
                    atomic.put_in_place(folder.head_path)
                    self._state = self._follow(state, head)
            except BaseException:
                state.inputs.close()
                self._state = None
                with suppress(OSError, WfError):
                    self.tidy()
                raise

    def append(self, records: Sequence[JournalRecord], *, sync: bool) -> int:
        """Store inputs, and give how many bytes of them the latest checkpoint lacks."""
        state = self._known()
        try:
            state.inputs.append(records, sync=sync)
        except OSError as error:
            raise self._folder.home.refusal(self._folder.path, error) from error
        for record in records:
            state.unfolded += record.trace
        return state.inputs.length

    def synced(self) -> None:
        """Wait until what was appended with `sync` is on disk. Where it fails, what was not there yet is removed."""
        state = self._known()
        try:
            state.inputs.synced()
        except OSError as error:
            self._state = None
            raise self._folder.home.refusal(self._folder.path, error) from error

    def close(self) -> None:
        """Close what is open."""
        if self._state is not None:
            self._state.inputs.trim()
            self._state.inputs.close()

    def _known(self) -> _State:
        if self._state is None:
            self.tidy()
        return cast("_State", self._state)

    def _follow(self, state: _State, head: Head) -> _State:
        """Go on from `head`, which has just been stored."""
        folder, record, earlier = self._folder, head.record, state.head.checkpoint.sequence
        if record.checkpoint == earlier:
            position = state.inputs.progress.position
            state.inputs.progress = Progress(record.trace_count, record.steps_executed, position)
            return _State(head, state.inputs, [])
        state.inputs.close()
        with suppress(OSError):
            atomic.unlink(folder.checkpoint_path(earlier))
            if state.inputs.length:
                atomic.unlink(folder.inputs_path(earlier))
        return self._at_checkpoint(head)

    def _at_checkpoint(self, head: Head) -> _State:
        """Go on from a checkpoint that has taken in every input."""
        progress = Progress(head.record.trace_count, head.record.steps_executed, None)
        return _State(head, self._inputs_file(head, NO_INPUTS, progress), [])

    def _inputs_file(self, head: Head, found: Inputs, progress: Progress) -> InputsFile:
        sequence = head.checkpoint.sequence
        header = InputsHeader(run_id=self._folder.run_id, checkpoint=sequence)
        return InputsFile(self._folder.inputs_path(sequence), header, found, progress)


def _entries_after(count: int, found: Inputs) -> list[bytes]:
    """Give the trace entries of inputs that follow `count` others."""
    missing = found.progress.trace_count - count if found.progress else 0
    entries = [jsonvalue.dumps(entry) for line in found.lines for entry in trace_of(line)]
    return entries[-missing:] if missing > 0 else []


def _cut_or_remove(path: Path, *, at: int) -> None:
    if at:
        atomic.cut_file(path, at=at)
    else:
        atomic.unlink(path)
