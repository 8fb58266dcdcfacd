"""One run on disk, for reading.

    run.json                        the record, and what belongs to it: which checkpoint, and how much trace counts
    environment.json                pinned once
    checkpoints/000003.json         the state, as the kernel writes it; of several the one that run.json names
    journal/000001.jsonl …          the trace up to what run.json counts (`trace`)
    journal/inputs_000003.jsonl     the inputs since that checkpoint, and the trace that they made (`inputs`)
    lock                            held by whoever advances the run

Replacing run.json is the instant at which a commit happens. What it does not name was never committed or is committed
no longer: readers do not see it, and the next holder of the lock removes it (`holder`).
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from wf_artifacts.errors import RunNotFound
from wf_artifacts.runs.checkpoints import NamedCheckpoint, whole
from wf_artifacts.runs.environment import ENVIRONMENT, PinnedEnvironment
from wf_artifacts.runs.files import inputs
from wf_artifacts.runs.files.inputs import Inputs, Progress
from wf_artifacts.runs.files.trace import Segment, Trace
from wf_artifacts.runs.models import Checkpoint, RunRecord
from wf_artifacts.storage.digests import bytes_digest
from wf_artifacts.storage.documents import Format, corrupt
from wf_artifacts.storage.home import Home
from wf_artifacts.storage.reading import open_document
from wf_artifacts.storage.records import Record
from wf_core.errors import StateCorrupt, WfError
from wf_core.ids import RunId

T = TypeVar("T")

Found = RunRecord | WfError | None
"""What there is of a run: its record, why it cannot be read, or None where there is no such run."""

LOCK = "lock"


class Head(Record):
    """What run.json says."""

    record: RunRecord
    checkpoint: NamedCheckpoint
    environment_digest: str
    """`bytes_digest` of environment.json."""
    segment: Segment
    """The last one of the trace that the record counts."""


def _with_segments(body: dict[str, Any]) -> dict[str, Any]:
    """Version 1 kept the whole trace in one file, and said how many bytes of it count."""
    length = body.pop("journal_bytes", None)
    return body | {"segment": {"number": 1, "first": 0, "length": length}}


def _with_plain_segments(body: dict[str, Any]) -> dict[str, Any]:
    """Version 2 knew no checksums of entries."""
    match body.get("segment"):
        case {"number": number, "length": length} as segment:
            return body | {"segment": segment | {"plain": number if length else 0}}
        case _:
            return body


HEAD = Format("wf.run_head", 3, Head, upgrades={1: _with_segments, 2: _with_plain_segments}, plain=2)


class RunFolder:
    """The folder of a run, under its own name or the temporary one under which it is made."""

    def __init__(self, home: Home, path: Path, run_id: RunId) -> None:
        self.path = path
        self.run_id = run_id
        self.home = home

    @property
    def lock(self) -> Path:
        return self.path / LOCK

    @property
    def head_path(self) -> Path:
        return self.path / "run.json"

    @property
    def environment_path(self) -> Path:
        return self.path / "environment.json"

    @property
    def journal(self) -> Path:
        """The folder of trace and inputs."""
        return self.path / "journal"

    @property
    def checkpoints(self) -> Path:
        return self.path / "checkpoints"

    def checkpoint_path(self, sequence: int) -> Path:
        return self.checkpoints / f"{sequence:06}.json"

    def inputs_path(self, checkpoint: int) -> Path:
        return inputs.inputs_path(self.journal, checkpoint)

    def exists(self) -> bool:
        """Tell whether there is a run here."""
        return self.home.has(self.head_path)

    def head(self) -> Head:
        """Read run.json.

        Raises:
            RunNotFound: there is none.
        """
        head = self.home.load(self.head_path, HEAD)
        if head is None:
            raise RunNotFound(self.run_id)
        if head.record.run_id != self.run_id:
            raise corrupt(self.home.document(self.head_path), f"it belongs to {head.record.run_id}")
        return head

    def look(self) -> Found:
        """Tell what there is of the run, without what the inputs since have made of it."""
        try:
            return self.head().record
        except RunNotFound:
            return None
        except WfError as error:
            return error

    def record(self) -> RunRecord:
        """Read the record, with what the inputs since have made of it."""
        return self._consistent(self._record)

    def environment(self) -> PinnedEnvironment:
        """Read environment.json."""
        return self._consistent(self._environment)

    def checkpoint(self) -> Checkpoint:
        """Read the latest checkpoint."""
        return self._consistent(self._checkpoint)

    def inputs(self) -> Inputs:
        """Read the inputs since the latest checkpoint."""
        return self._consistent(self.inputs_since)

    def trace(self, start: int, limit: int) -> list[dict[str, Any]]:
        """Read entries of the trace."""
        return self._consistent(lambda head: self._trace(head, start, limit))

    def inputs_since(self, head: Head) -> Inputs:
        """Read the inputs since the checkpoint that `head` names."""
        path = self.inputs_path(head.checkpoint.sequence)
        document = self.home.document(path)
        earlier: bytes | None = None
        while (data := self.home.read(path)) is not None:
            try:
                found = inputs.parse(data, document, run_id=self.run_id, checkpoint=head.checkpoint.sequence)
                if (found.first_entry or 0) > head.record.trace_count:
                    raise corrupt(document, f"entry {head.record.trace_count} is missing")
                return found
            except StateCorrupt:
                # Whoever reads while a line is written may see the end of it before its beginning.
                if data == earlier:
                    raise
            earlier = data
        return inputs.NO_INPUTS

    def segments(self, head: Head) -> Trace:
        """Give the trace that the record in `head` counts."""
        return Trace(self.journal, self.home.document, self.run_id, head.segment)

    def version(self) -> tuple[int, int]:
        """Tell one content of run.json from another.

        Raises:
            RunNotFound: there is none.
        """
        with self.home.translated(self.head_path):
            try:
                found = self.head_path.stat()
            except FileNotFoundError as error:
                raise RunNotFound(self.run_id) from error
        return found.st_ino, found.st_mtime_ns

    def _consistent(self, read: Callable[[Head], T]) -> T:
        """Read what run.json names; again, if a commit replaced it and removed what was older meanwhile."""
        while True:
            version = self.version()
            try:
                result = read(self.head())
            except StateCorrupt:
                if self.version() == version:
                    raise
            else:
                if self.version() == version:
                    return result

    def _record(self, head: Head) -> RunRecord:
        progress = self._progress(head)
        if progress is None:
            return head.record
        # A commit without a checkpoint leaves the inputs before it where they are.
        counted = {
            "trace_count": max(progress.trace_count, head.record.trace_count),
            "steps_executed": max(progress.steps_executed, head.record.steps_executed),
        }
        return head.record.model_copy(update=counted)

    def _progress(self, head: Head) -> Progress | None:
        path = self.inputs_path(head.checkpoint.sequence)
        with self.home.translated(path):
            try:
                with open_document(path, self.home.document(path)) as file:
                    return inputs.last_progress(file, self.home.document(path))
            except FileNotFoundError:
                return None
            except StateCorrupt:
                return self.inputs_since(head).progress

    def _environment(self, head: Head) -> PinnedEnvironment:
        data = self._required(self.environment_path)
        document = self.home.document(self.environment_path)
        environment = ENVIRONMENT.decode(data, document)
        if bytes_digest(data) != head.environment_digest:
            raise corrupt(document, "it is not what the run was started with")
        return environment

    def _checkpoint(self, head: Head) -> Checkpoint:
        path = self.checkpoint_path(head.checkpoint.sequence)
        return whole(self.run_id, head.checkpoint, self._required(path), self.home.document(path))

    def _trace(self, head: Head, start: int, limit: int) -> list[dict[str, Any]]:
        """Read what the segments hold, and then what the inputs since have made."""
        counted = head.record.trace_count
        numbers = range(start, min(start + limit, self._record(head).trace_count))
        if not numbers:
            return []
        found: list[dict[str, Any]] = []
        with self.home.translated(self.journal):
            try:
                if start < counted:
                    found += self.segments(head).entries(range(start, min(numbers.stop, counted)))
                if numbers.stop > counted:
                    found += self._unfolded(head, range(max(start, counted), numbers.stop))
            except FileNotFoundError as error:
                raise self._missing(Path(error.filename)) from error
        return found

    def _unfolded(self, head: Head, numbers: range) -> list[dict[str, Any]]:
        path = self.inputs_path(head.checkpoint.sequence)
        document = self.home.document(path)
        with open_document(path, document) as file:
            try:
                return inputs.read_entries(file, document, numbers)
            except StateCorrupt:
                return self.inputs_since(head).entries(document, numbers)

    def _required(self, path: Path) -> bytes:
        data = self.home.read(path)
        if data is None:
            raise self._missing(path)
        return data

    def _missing(self, path: Path) -> WfError:
        """Say that a file is missing, or that the run was deleted meanwhile."""
        return corrupt(self.home.document(path), "it is missing") if self.exists() else RunNotFound(self.run_id)
