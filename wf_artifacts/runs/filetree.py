"""The runs as files, shared by every process that opens the home.

runs/<run_id>/         see `files.folder`
runs/.<run_id>.tmp     a run that is being made or removed, or that a crash left so; a list removes those
keys/                  see `files.keys`
index/                 see `files.index`
"""

import errno
import threading
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from typing import Any

from wf_artifacts.errors import ClaimLost, RunBusy, RunNotFound
from wf_artifacts.runs.environment import PinnedEnvironment
from wf_artifacts.runs.files.examination import RunsExamination
from wf_artifacts.runs.files.folder import LOCK, Found, RunFolder
from wf_artifacts.runs.files.holder import Holder, new_run
from wf_artifacts.runs.files.index import RunIndex
from wf_artifacts.runs.files.keys import Keys
from wf_artifacts.runs.models import Checkpoint, JournalRecord, RunRecord
from wf_artifacts.runs.rules import COMPARED_RUNS, RUNS, belongs, require_first_state, require_same_input, size_of
from wf_artifacts.runs.store import Claim, Created
from wf_artifacts.storage import atomic
from wf_artifacts.storage.claims import Releasable
from wf_artifacts.storage.findings import Fault, LostAndFound
from wf_artifacts.storage.home import FileTreeStore, Home, in_home
from wf_artifacts.storage.leftovers import remove_leftover, whole
from wf_artifacts.storage.locks import FileLock, try_lock
from wf_artifacts.storage.pages import Page, collect, read_cursor
from wf_artifacts.storage.threads import AT_ONCE_BYTES, Pace, finished
from wf_core.errors import StateError
from wf_core.ids import DeploymentId, RunId, close_matches, is_id
from wf_core.state import RunStatus


class FileClaim(Releasable):
    """The lock over a run's folder, and what is stored next while it is held."""

    def __init__(self, run_id: RunId, lock: FileLock, holder: Holder) -> None:
        self.run_id = run_id
        self._lock = lock
        self._holder = holder
        self._writing = threading.Lock()
        self.pace = Pace()

    def commit(self, record: RunRecord, checkpoint: Checkpoint | None, trace: Sequence[bytes]) -> None:
        with self._writing:
            self._require_held()
            self._holder.commit(record, checkpoint, trace)

    def append(self, records: Sequence[JournalRecord], *, sync: bool) -> int:
        with self._writing:
            self._require_held()
            began = time.perf_counter()
            grown = self._holder.append(records, sync=sync)
            if sync:
                self.pace.seconds = time.perf_counter() - began
            return grown

    def synced(self) -> None:
        with self._writing:
            self._require_held()
            began = time.perf_counter()
            self._holder.synced()
            self.pace.seconds += time.perf_counter() - began

    async def release(self) -> None:
        # A caller that was torn away from its commit may get here before the thread that writes is done.
        with self._writing:
            self._holder.close()
            self._lock.release()

    def _require_held(self) -> None:
        if not self._lock.held:
            raise ClaimLost(self.run_id)


class FileTreeRuns(FileTreeStore):
    """Keeps each run in a folder of its own."""

    def __init__(self, home: Home) -> None:
        super().__init__(home)
        self._runs = home.room("runs")
        self._keys = Keys(home)
        self._index = RunIndex(home, self._survey)

    @in_home
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

    @in_home
    def earlier(self, record: RunRecord) -> RunRecord | None:
        return None if record.idempotency_key is None else self._earlier(record)

    @in_home
    def claim(self, run_id: RunId) -> Claim:
        with self._close_ids(run_id):
            folder = self._folder(run_id)
            lock = self._lock(folder)
            try:
                holder = Holder(folder, self._index.becoming)
                holder.tidy()
                return FileClaim(run_id, lock, holder)
            except BaseException:
                lock.release()
                raise

    @in_home
    def is_claimed(self, run_id: RunId) -> bool:
        with self._close_ids(run_id):
            folder = self._folder(run_id)
            if not folder.exists():
                raise RunNotFound(run_id)
            return self.home.is_locked(folder.lock)

    @in_home
    def commit(
        self,
        claim: Claim,
        record: RunRecord,
        *,
        checkpoint: Checkpoint | None = None,
        trace: Sequence[bytes] = (),
    ) -> None:
        _ours(claim).commit(record, checkpoint, trace)

    async def append(self, claim: Claim, records: Sequence[JournalRecord], *, sync: bool) -> int:
        held, length = _ours(claim), size_of(records)
        self.home.place.require_lately()
        if held.pace.allows(length) if sync else length <= AT_ONCE_BYTES:
            return held.append(records, sync=sync)
        return await finished(self._append(held, records, sync=sync))

    async def synced(self, claim: Claim) -> None:
        # What is still outstanding was appended at once, for waiting for it takes less time than handing it over.
        _ours(claim).synced()

    @in_home
    def load(self, run_id: RunId, *, principal: str | None = None) -> RunRecord:
        with self._close_ids(run_id, principal):
            record = self._folder(run_id).record()
            if not belongs(record, principal):
                raise RunNotFound(run_id)
            return record

    @in_home
    def load_environment(self, run_id: RunId) -> PinnedEnvironment:
        with self._close_ids(run_id):
            return self._folder(run_id).environment()

    @in_home
    def load_checkpoint(self, run_id: RunId) -> Checkpoint:
        with self._close_ids(run_id):
            return self._folder(run_id).checkpoint()

    @in_home
    def load_journal(self, run_id: RunId) -> list[bytes]:
        with self._close_ids(run_id):
            return self._folder(run_id).inputs().lines

    @in_home
    def read_trace(self, run_id: RunId, start: int, limit: int) -> list[dict[str, Any]]:
        with self._close_ids(run_id):
            return self._folder(run_id).trace(start, limit)

    @in_home
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
                record = self._folder(run_id).record()
                return record if belongs(record, principal, status, deployment_id) else None

        below = None if cursor is None else RunId(read_cursor(RUNS, cursor))
        found = self._newest(principal=principal, status=status, deployment_id=deployment_id, below=below)
        return collect(RUNS, found, read, limit)

    @in_home
    def abandoned(self) -> list[RunId]:
        def is_abandoned(run_id: RunId) -> bool:
            with suppress(RunNotFound, StateError):
                folder = self._folder(run_id)
                return folder.head().record.status == "running" and not self.home.is_locked(folder.lock)
            return False

        return [run_id for run_id in self._newest(status="running") if is_abandoned(run_id)]

    @in_home
    def delete(self, run_id: RunId) -> None:
        with self._close_ids(run_id):
            folder = self._folder(run_id)
            lock = self._lock(folder)
            try:
                record = folder.head().record
                with self._index.vanishing(run_id), self.home.translated(folder.path):
                    retired = atomic.retire_folder(folder.path)
                    atomic.remove_folder(retired, last=LOCK)
                if record.idempotency_key is not None:
                    self._forget_key(record)
            finally:
                lock.release()

    def faults(self) -> Iterator[Fault]:
        """Look at everything that is kept of runs."""
        return RunsExamination(self.home, self._runs, self._keys, self._index, LostAndFound(self.home)).faults()

    def close(self) -> None:
        """Close what is open. Claims are released by whoever took them."""
        self._index.close()

    @in_home
    def _append(self, claim: FileClaim, records: Sequence[JournalRecord], *, sync: bool) -> int:
        grown = claim.append(records, sync=sync)
        claim.synced()
        return grown

    def _create(
        self, record: RunRecord, environment: PinnedEnvironment, checkpoint: Checkpoint, trace: Sequence[bytes]
    ) -> Created:
        """Make the folder under a temporary name, and let it appear whole, already locked."""
        folder = self._folder(record.run_id)
        made = RunFolder(self.home, atomic.temporary(folder.path), record.run_id)
        head, files = new_run(made, record, environment, checkpoint, trace)
        with self._index.becoming(record), self.home.translated(folder.path):
            lock = self._make_locked(made)
            try:
                for path in (made.journal, made.checkpoints):
                    atomic.new_folder(path)
                atomic.write_files(files)
                atomic.publish_folder(made.path, folder.path)
            except BaseException:
                with suppress(OSError):
                    atomic.remove_folder(made.path, last=LOCK)
                lock.release()
                raise
        claim = FileClaim(record.run_id, lock, Holder(folder, self._index.becoming, head))
        return Created(record, created=True, claim=claim)

    def _make_locked(self, folder: RunFolder) -> FileLock:
        """Make the folder of a new run and lock it. A crash may have left one of its name."""
        atomic.make_folder(self._runs)
        remove_leftover(folder.path, lock=LOCK)
        atomic.new_folder(folder.path)
        lock = try_lock(folder.lock)
        if lock is None:
            raise FileExistsError(errno.EEXIST, "somebody else makes it")
        return lock

    def _newest(
        self,
        *,
        principal: str | None = None,
        status: RunStatus | None = None,
        deployment_id: DeploymentId | None = None,
        below: RunId | None = None,
    ) -> Iterator[RunId]:
        """Give the runs that may be meant, the newest first. What a crash left unfinished is cleared up before."""
        if not self.home.has(self._runs):
            return iter(())
        self._index.settle(self._clear_up)
        return self._index.newest(principal=principal, status=status, deployment_id=deployment_id, below=below)

    def _clear_up(self, run_id: RunId) -> Found:
        """Finish what was begun with a run, and tell what it is by now. One under way its next holder sees to."""
        folder = self._folder(run_id)
        with self.home.translated(folder.path):
            remove_leftover(atomic.temporary(folder.path), lock=LOCK)
        found = folder.look()
        if isinstance(found, RunRecord) and found.status == "running":
            return found
        with suppress(RunNotFound, RunBusy, StateError):
            lock = self._lock(folder)
            try:
                Holder(folder, self._index.becoming).tidy()
            finally:
                lock.release()
        return folder.look()

    def _survey(self) -> Iterator[tuple[RunId, Found]]:
        """Look at every run. What a crash left is removed."""
        for name in whole(self._runs, self.home.folders(self._runs), lock=LOCK):
            yield RunId(name), self._folder(RunId(name)).look()

    def _earlier(self, record: RunRecord) -> RunRecord | None:
        """Give the run that a key stands for. None where it was never made, or is deleted."""
        run_id = self._keys.run_of(record)
        if run_id is None:
            return None
        try:
            earlier = self._folder(run_id).record()
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
            near = close_matches(run_id, list(islice(self._newest(principal=principal), COMPARED_RUNS)))
            raise RunNotFound(
                run_id, close=[known for known in near if self._is_visible(RunId(known), principal)]
            ) from error

    def _is_visible(self, run_id: RunId, principal: str | None) -> bool:
        found = self._folder(run_id).look()
        return isinstance(found, RunRecord) and belongs(found, principal)


def _ours(claim: Claim) -> FileClaim:
    if not isinstance(claim, FileClaim):
        raise ClaimLost(claim.run_id)
    return claim
