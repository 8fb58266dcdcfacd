"""The runs as files, shared by every process that opens the home.

runs/<run_id>/         see `folder`
runs/.<run_id>.*tmp    a run that is being made or removed, or that a crash left so; the next list removes those
keys/                  see `keys`
"""

import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from wf_artifacts.errors import ClaimLost, RunBusy, RunNotFound
from wf_artifacts.runs.environment import PinnedEnvironment
from wf_artifacts.runs.folder import LOCK, Head, RunFolder
from wf_artifacts.runs.keys import Keys
from wf_artifacts.runs.models import Checkpoint, RunRecord, RunStatus
from wf_artifacts.runs.rules import (
    COMPARED_RUNS,
    RUNS,
    belongs,
    require_first_state,
    require_next_state,
    require_same_input,
)
from wf_artifacts.runs.store import Claim, Created
from wf_artifacts.storage import atomic
from wf_artifacts.storage.home import FileTreeStore, Home
from wf_artifacts.storage.locks import FileLock, is_locked, try_lock
from wf_artifacts.storage.pages import Page, collect, descending
from wf_artifacts.storage.threads import in_thread
from wf_core.errors import StateError
from wf_core.ids import DeploymentId, RunId, close_matches, is_id


class FileClaim:
    """The lock over a run's folder, and what run.json says while it is held."""

    def __init__(self, folder: RunFolder, lock: FileLock, head: Head) -> None:
        self.run_id = folder.run_id
        self._folder = folder
        self._lock = lock
        self._head: Head | None = head
        """None after a failed commit: only the file knows then."""
        self._writing = threading.Lock()

    def commit(self, record: RunRecord, checkpoint: Checkpoint | None, trace: Sequence[bytes]) -> None:
        with self._writing:
            if not self._lock.held:
                raise ClaimLost(self.run_id)
            earlier = self._head or self._folder.head()
            require_next_state(earlier.record, record, checkpoint, trace)
            self._head = None
            self._head = self._folder.commit(earlier, record, checkpoint, trace)

    async def release(self) -> None:
        # A caller that was torn away from its commit may get here before the thread that writes is done.
        with self._writing:
            self._lock.release()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.release()


class FileTreeRuns(FileTreeStore):
    """Keeps each run in a folder of its own."""

    def __init__(self, home: Home) -> None:
        super().__init__(home)
        self._runs = home.root / "runs"
        self._keys = Keys(home)

    @in_thread
    def create(
        self,
        record: RunRecord,
        environment: PinnedEnvironment,
        checkpoint: Checkpoint,
        *,
        trace: Sequence[bytes] = (),
    ) -> Created:
        require_first_state(record, checkpoint, trace)
        if record.idempotency_key is None:
            return self._create(record, environment, checkpoint, trace)
        with self._keys.changing(record):
            earlier = self._earlier(record)
            if earlier is not None:
                return Created(earlier, created=False, claim=None)
            try:
                self._keys.reserve(record)
                return self._create(record, environment, checkpoint, trace)
            except BaseException:
                with suppress(OSError):
                    self._keys.free(record)
                raise

    @in_thread
    def earlier(self, record: RunRecord) -> RunRecord | None:
        return None if record.idempotency_key is None else self._earlier(record)

    @in_thread
    def claim(self, run_id: RunId) -> Claim:
        with self._close_ids(run_id):
            folder = self._folder(run_id)
            lock = self._lock(folder)
            try:
                return FileClaim(folder, lock, folder.tidy())
            except BaseException:
                lock.release()
                raise

    @in_thread
    def is_claimed(self, run_id: RunId) -> bool:
        with self._close_ids(run_id):
            folder = self._folder(run_id)
            if not folder.exists():
                raise RunNotFound(run_id)
            with self.home.translated(folder.lock):
                return is_locked(folder.lock)

    @in_thread
    def commit(
        self,
        claim: Claim,
        record: RunRecord,
        *,
        checkpoint: Checkpoint | None = None,
        trace: Sequence[bytes] = (),
    ) -> None:
        if not isinstance(claim, FileClaim):
            raise ClaimLost(claim.run_id)
        claim.commit(record, checkpoint, trace)

    @in_thread
    def load(self, run_id: RunId, *, principal: str | None = None) -> RunRecord:
        with self._close_ids(run_id, principal):
            record = self._folder(run_id).head().record
            if not belongs(record, principal):
                raise RunNotFound(run_id)
            return record

    @in_thread
    def load_environment(self, run_id: RunId) -> PinnedEnvironment:
        with self._close_ids(run_id):
            return self._folder(run_id).environment()

    @in_thread
    def load_checkpoint(self, run_id: RunId) -> Checkpoint:
        with self._close_ids(run_id):
            return self._folder(run_id).checkpoint()

    @in_thread
    def read_trace(self, run_id: RunId, start: int, limit: int) -> list[dict[str, Any]]:
        with self._close_ids(run_id):
            return self._folder(run_id).trace(start, limit)

    @in_thread
    def list_runs(
        self,
        *,
        principal: str | None,
        status: RunStatus | None = None,
        deployment_id: DeploymentId | None = None,
        cursor: str | None = None,
        limit: int,
    ) -> Page[RunRecord]:
        def read(run_id: RunId) -> RunRecord | None:
            with suppress(RunNotFound):
                record = self._folder(run_id).head().record
                return record if belongs(record, principal, status, deployment_id) else None

        names = self.home.folders(self._runs)
        for name in filter(atomic.is_temporary, names):
            self._remove_unless_locked(self._runs / name)
        return collect(RUNS, descending(RUNS, map(RunId, filter(is_id, names)), cursor), read, limit)

    @in_thread
    def delete(self, run_id: RunId) -> None:
        with self._close_ids(run_id):
            folder = self._folder(run_id)
            lock = self._lock(folder)
            try:
                record = folder.head().record
                with self.home.translated(folder.path):
                    retired = atomic.retire_folder(folder.path)
                    atomic.remove_folder(retired, last=LOCK)
                if record.idempotency_key is not None:
                    self._forget_key(record)
            finally:
                lock.release()

    def _create(
        self, record: RunRecord, environment: PinnedEnvironment, checkpoint: Checkpoint, trace: Sequence[bytes]
    ) -> Created:
        """Make the folder under a temporary name, and let it appear whole, already locked."""
        folder = self._folder(record.run_id)
        made = RunFolder(self.home, atomic.temporary(folder.path), record.run_id)
        with self.home.translated(folder.path):
            atomic.make_folder(self._runs)
            lock = _make_locked(made)
            try:
                head = made.write(record, environment, checkpoint, trace)
                atomic.publish_folder(made.path, folder.path)
            except BaseException:
                with suppress(OSError):
                    atomic.remove_folder(made.path, last=LOCK)
                lock.release()
                raise
        return Created(record, created=True, claim=FileClaim(folder, lock, head))

    def _earlier(self, record: RunRecord) -> RunRecord | None:
        """Give the run that a key stands for. None where it was never made, or is deleted."""
        run_id = self._keys.run_of(record)
        if run_id is None:
            return None
        try:
            earlier = self._folder(run_id).head().record
        except RunNotFound:
            return None
        require_same_input(earlier, record)
        return earlier

    def _forget_key(self, record: RunRecord) -> None:
        with self._keys.changing(record):
            if self._keys.run_of(record) == record.run_id:
                self._keys.free(record)

    def _folder(self, run_id: RunId) -> RunFolder:
        if not is_id(run_id):
            raise RunNotFound(run_id)
        return RunFolder(self.home, self._runs / run_id, run_id)

    def _lock(self, folder: RunFolder) -> FileLock:
        with self.home.translated(folder.lock):
            try:
                lock = try_lock(folder.lock)
            except FileNotFoundError as error:
                raise RunNotFound(folder.run_id) from error
        if lock is None:
            raise RunBusy(folder.run_id)
        return lock

    @contextmanager
    def _close_ids(self, run_id: RunId, principal: str | None = None) -> Generator[None]:
        """Let the error that there is no such run name those that look like it."""
        try:
            yield
        except RunNotFound as error:
            ids = map(RunId, filter(is_id, self.home.folders(self._runs)))
            near = close_matches(run_id, descending(RUNS, ids, None)[:COMPARED_RUNS])
            raise RunNotFound(
                run_id, close=[known for known in near if self._is_visible(RunId(known), principal)]
            ) from error

    def _is_visible(self, run_id: RunId, principal: str | None) -> bool:
        try:
            return belongs(self._folder(run_id).head().record, principal)
        except (RunNotFound, StateError):
            return False

    def _remove_unless_locked(self, path: Path) -> None:
        """Remove what a crash left of a run, unless its maker or remover is still at work."""
        with suppress(OSError):
            lock = try_lock(path / LOCK)
            if lock is not None:
                try:
                    atomic.remove_folder(path, last=LOCK)
                finally:
                    lock.release()


def _make_locked(folder: RunFolder) -> FileLock:
    """Make the folder of a new run and lock it.

    Somebody who takes the folder for a leftover may lock or remove it before it is locked; then it is made again.
    """
    while True:
        folder.path.mkdir(mode=atomic.FOLDER_MODE, exist_ok=True)
        with suppress(FileNotFoundError):
            lock = try_lock(folder.lock)
            if lock is not None:
                return lock
