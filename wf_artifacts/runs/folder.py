"""One run on disk.

    run.json                   the record, and what belongs to it: which checkpoint, and how far the journal counts
    environment.json           pinned once
    checkpoints/000001.json    the state, as the kernel writes it; of several the one that run.json names
    journal/000001.jsonl       the trace
    lock                       held by whoever advances the run

Replacing run.json is the instant at which a commit happens. What lies beyond what it names was never committed: readers
do not see it, and the next holder of the lock removes it.
"""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import Field

from wf_artifacts.errors import RunNotFound
from wf_artifacts.runs import journal
from wf_artifacts.runs.environment import ENVIRONMENT, PinnedEnvironment
from wf_artifacts.runs.models import Checkpoint, RunRecord
from wf_artifacts.storage import atomic
from wf_artifacts.storage.digests import bytes_digest
from wf_artifacts.storage.documents import Format, corrupt, naming
from wf_artifacts.storage.home import Home
from wf_artifacts.storage.records import Record, Time
from wf_core.codec import load_run
from wf_core.errors import WfError
from wf_core.ids import RunId

LOCK = "lock"


class NamedCheckpoint(Record):
    """The latest checkpoint, but for its state."""

    sequence: int = Field(ge=1)
    reason: str
    digest: str
    """`bytes_digest` of the state."""
    created_at: Time


class Head(Record):
    """What run.json says."""

    record: RunRecord
    checkpoint: NamedCheckpoint
    environment_digest: str
    """`bytes_digest` of environment.json."""
    journal_bytes: int = Field(ge=1)
    """How many bytes of the journal count."""


HEAD = Format("wf.run_head", 1, Head)


class RunFolder:
    """The folder of a run, under its own name or the temporary one under which it is made."""

    def __init__(self, home: Home, path: Path, run_id: RunId) -> None:
        self.path = path
        self.run_id = run_id
        self._home = home

    @property
    def lock(self) -> Path:
        return self.path / LOCK

    def write(
        self, record: RunRecord, environment: PinnedEnvironment, checkpoint: Checkpoint, trace: Sequence[bytes]
    ) -> Head:
        """Write everything into a folder that nobody reads yet."""
        first = journal.first_line(self.run_id) + journal.lines(0, trace)
        pinned = ENVIRONMENT.encode(environment)
        head = Head(
            record=record,
            checkpoint=_named(checkpoint),
            environment_digest=bytes_digest(pinned),
            journal_bytes=len(first),
        )
        files = {
            self._head: HEAD.encode(head),
            self._environment: pinned,
            self._journal: first,
            self._checkpoint(checkpoint.sequence): checkpoint.state,
        }
        for path, data in files.items():
            path.parent.mkdir(mode=atomic.FOLDER_MODE, exist_ok=True)
            atomic.write_file(path, data)
        return head

    def commit(self, earlier: Head, record: RunRecord, checkpoint: Checkpoint | None, trace: Sequence[bytes]) -> Head:
        """Store the state that follows `earlier`, in one step. Only under the lock.

        Where it fails, what it wrote is removed again unless run.json already names it.
        """
        lines = journal.lines(earlier.record.trace_count, trace)
        head = Head(
            record=record,
            checkpoint=earlier.checkpoint if checkpoint is None else _named(checkpoint),
            environment_digest=earlier.environment_digest,
            journal_bytes=earlier.journal_bytes + len(lines),
        )
        data = HEAD.encode(head)
        with self._home.translated(self.path):
            try:
                if lines:
                    atomic.append_to_file(self._journal, lines, at=earlier.journal_bytes)
                if checkpoint is not None:
                    atomic.replace_file(self._checkpoint(checkpoint.sequence), checkpoint.state)
                atomic.replace_file(self._head, data)
            except BaseException:
                with suppress(OSError, WfError):
                    self.tidy()
                raise
        if checkpoint is not None:
            with suppress(OSError):
                self._checkpoint(earlier.checkpoint.sequence).unlink()
        return head

    def tidy(self) -> Head:
        """Remove what run.json does not name, and give what it says. Only under the lock."""
        head = self.head()
        named = self._checkpoint(head.checkpoint.sequence)
        with self._home.translated(self.path):
            atomic.remove_temporary_files(self.path)
            for name in self._home.files(named.parent):
                if name != named.name:
                    (named.parent / name).unlink(missing_ok=True)
            with suppress(FileNotFoundError):
                atomic.cut_file(self._journal, at=head.journal_bytes)
        return head

    def exists(self) -> bool:
        """Tell whether there is a run here."""
        with self._home.translated(self._head):
            return self._head.exists()

    def head(self) -> Head:
        """Read run.json.

        Raises:
            RunNotFound: there is none.
        """
        head = self._home.load(self._head, HEAD)
        if head is None:
            raise RunNotFound(self.run_id)
        if head.record.run_id != self.run_id:
            raise corrupt(self._home.document(self._head), f"it belongs to {head.record.run_id}")
        return head

    def environment(self) -> PinnedEnvironment:
        """Read environment.json."""
        head = self.head()
        data = self._home.read(self._environment)
        if data is None:
            raise self._missing(self._environment)
        document = self._home.document(self._environment)
        environment = ENVIRONMENT.decode(data, document)
        if bytes_digest(data) != head.environment_digest:
            raise corrupt(document, "it is not what the run was started with")
        return environment

    def checkpoint(self) -> Checkpoint:
        """Read the latest checkpoint."""
        head = self.head()
        path = self._checkpoint(head.checkpoint.sequence)
        data = self._home.read(path)
        if data is None:
            # Unless a commit has removed it because it made a newer one, it is missing.
            if self.head().checkpoint == head.checkpoint:
                raise self._missing(path)
            return self.checkpoint()
        self._require_named(head.checkpoint, data, self._home.document(path))
        return Checkpoint(
            run_id=self.run_id,
            sequence=head.checkpoint.sequence,
            reason=head.checkpoint.reason,
            state=data,
            created_at=head.checkpoint.created_at,
        )

    def trace(self, start: int, limit: int) -> list[dict[str, Any]]:
        """Read entries of the trace."""
        head = self.head()
        numbers = range(start, min(start + limit, head.record.trace_count))
        if not numbers:
            return []
        document = self._home.document(self._journal)
        with self._home.translated(self._journal):
            try:
                return journal.read(
                    self._journal, document, length=head.journal_bytes, run_id=self.run_id, numbers=numbers
                )
            except FileNotFoundError as error:
                raise self._missing(self._journal) from error

    @property
    def _head(self) -> Path:
        return self.path / "run.json"

    @property
    def _environment(self) -> Path:
        return self.path / "environment.json"

    @property
    def _journal(self) -> Path:
        return self.path / "journal" / "000001.jsonl"

    def _checkpoint(self, sequence: int) -> Path:
        return self.path / "checkpoints" / f"{sequence:06}.json"

    def _missing(self, path: Path) -> WfError:
        """Say that a file is missing, or that the run was deleted meanwhile."""
        return corrupt(self._home.document(path), "it is missing") if self.exists() else RunNotFound(self.run_id)

    @staticmethod
    def _require_named(checkpoint: NamedCheckpoint, state: bytes, document: str) -> None:
        """Accept the state that was stored."""
        if bytes_digest(state) != checkpoint.digest:
            with naming(document):
                load_run(state)
            raise corrupt(document, "it is not the state that was stored")


def _named(checkpoint: Checkpoint) -> NamedCheckpoint:
    return NamedCheckpoint(
        sequence=checkpoint.sequence,
        reason=checkpoint.reason,
        digest=bytes_digest(checkpoint.state),
        created_at=checkpoint.created_at,
    )
