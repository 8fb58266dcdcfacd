"""Which run an idempotency key stands for, across processes.

    keys/3f/3f…e1.json    names the run; the name is a digest of principal, deployment and key
    keys/3f/.lock         held from looking a key up until its run is there

The key is written before its run. So a crash in between leaves a key that names no run, which is as good as none, and
never a run that its key does not find.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

from wf_artifacts.runs.models import RunRecord
from wf_artifacts.storage import atomic
from wf_artifacts.storage.digests import json_digest
from wf_artifacts.storage.documents import Format, corrupt
from wf_artifacts.storage.home import Home
from wf_artifacts.storage.records import Record
from wf_core.ids import DeploymentId, RunId


class Key(Record):
    """A key and its run."""

    principal: str
    deployment_id: DeploymentId
    key: str
    run_id: RunId


KEY = Format("wf.idempotency_key", 2, Key, plain=1)

_LOCK = ".lock"


class Keys:
    """The keys under a home. What a record's key is, the record says; it has one."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._folder = home.root / "keys"

    def changing(self, record: RunRecord) -> AbstractContextManager[None]:
        """Hold the key of a record."""
        folder = self._path_of(record).parent
        return self._home.changing(folder, lock=folder / _LOCK)

    def run_of(self, record: RunRecord) -> RunId | None:
        """Give the run that the key of a record stands for. It need not exist."""
        found = self._home.load(
            self._path_of(record),
            KEY,
            principal=record.principal,
            deployment_id=record.deployment_id,
            key=record.idempotency_key,
        )
        return None if found is None else found.run_id

    def files(self) -> Iterator[Path]:
        """Give every file but the locks."""
        for shard in self._home.folders(self._folder):
            for name in self._home.files(self._folder / shard):
                if name != _LOCK:
                    yield self._folder / shard / name

    def lock(self, path: Path) -> Path:
        """Name the lock over one of the `files`."""
        return path.with_name(_LOCK)

    def load(self, path: Path) -> Key | None:
        """Read one of the `files`.

        Raises:
            StateCorrupt, FormatTooNew: it is no key, or not the one of its name.
        """
        key = self._home.load(path, KEY)
        if key is not None and path != self._path(key.principal, key.deployment_id, key.key):
            raise corrupt(self._home.document(path), "it is the file of another key")
        return key

    def reserve(self, record: RunRecord) -> None:
        """Let the key of a record stand for its run. Only while it is held."""
        key = Key(
            principal=record.principal,
            deployment_id=record.deployment_id,
            key=str(record.idempotency_key),
            run_id=record.run_id,
        )
        atomic.replace_file(self._path_of(record), KEY.encode(key))

    def free(self, record: RunRecord) -> None:
        """Let the key of a record stand for nothing. Only while it is held."""
        atomic.remove_file(self._path_of(record))

    def _path_of(self, record: RunRecord) -> Path:
        return self._path(record.principal, record.deployment_id, record.idempotency_key)

    def _path(self, principal: str, deployment_id: str, key: str | None) -> Path:
        name = json_digest([principal, deployment_id, key]).removeprefix("sha256:")
        return self._folder / name[:2] / f"{name}.json"
