"""Everything that is wrong with the runs of a home: each run, the keys, and the index.

In this order, because a run that is taken away leaves a key and an entry of the index behind.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from wf_artifacts.runs.files import soundness
from wf_artifacts.runs.files.folder import RunFolder
from wf_artifacts.runs.files.index import RunIndex
from wf_artifacts.runs.files.keys import Keys
from wf_artifacts.runs.models import RunRecord
from wf_artifacts.storage.atomic import is_temporary
from wf_artifacts.storage.findings import MOVES_IT, Fault, Finding, LostAndFound, confirmed, stray, unreadable
from wf_artifacts.storage.home import Home
from wf_artifacts.storage.list_faults import index_faults, stray_faults
from wf_core.errors import StateError
from wf_core.ids import RunId, is_id


@dataclass(frozen=True, slots=True)
class RunsExamination:
    """Looks at the runs of a home."""

    home: Home
    folder: Path
    """Where the runs are."""
    keys: Keys
    index: RunIndex
    lost: LostAndFound

    def faults(self) -> Iterator[Fault]:
        """Give everything that is wrong."""
        if self.home.has(self.folder):
            yield from self._runs()
            yield from self._keys()
            yield from self._index()

    def _runs(self) -> Iterator[Fault]:
        for name in self.home.folders(self.folder):
            path = self.folder / name
            if is_id(name):
                run = self._run(RunId(name))
                yield from soundness.faults(run, self.lost, lambda run=run: self._take_away(run))
            else:
                yield from stray_faults(self.home, self.index, path, self.lost)
        for name in self.home.files(self.folder):
            yield from stray_faults(self.home, self.index, self.folder / name, self.lost)

    def _keys(self) -> Iterator[Fault]:
        for path in self.keys.files():
            yield from confirmed(lambda path=path: self._judge_key(path), self.keys.lock(path))
        for run in self._every_run():
            record = run.look()
            if isinstance(record, RunRecord) and record.idempotency_key is not None and self._lacks_key(record):
                yield Fault(
                    Finding(
                        self.home.document(run.head_path),
                        "orphaned",
                        "Its idempotency key leads nowhere: the same request would begin another run.",
                        "Lets the key lead to the run again.",
                    ),
                    lambda record=record: self._keep_key(record),
                )

    def _judge_key(self, path: Path) -> Fault | None:
        document = self.home.document(path)
        if is_temporary(path.name):
            return stray(document, path, self.lost) if self.home.has(path) else None
        try:
            key = self.keys.load(path)
        except StateError as error:
            return unreadable(document, error, MOVES_IT, lambda: self.lost.move(path))
        if key is None or self.home.has(self._run(key.run_id).head_path):
            return None
        problem = f"It leads to {key.run_id}, which is gone, and is as good as none."
        finding = Finding(document, "leftover", problem, MOVES_IT)
        return Fault(finding, lambda: self.lost.move(path))

    def _lacks_key(self, record: RunRecord) -> bool:
        with suppress(StateError):
            return self.keys.run_of(record) is None and self.home.has(self._run(record.run_id).head_path)
        return False

    def _keep_key(self, record: RunRecord) -> None:
        with self.keys.changing(record):
            if self._lacks_key(record):
                self.keys.reserve(record)

    def _index(self) -> Iterator[Fault]:
        every = (run.run_id for run in self._every_run())
        return index_faults(self.index, "runs", every, lambda run_id: self._run(run_id).look())

    def _every_run(self) -> Iterator[RunFolder]:
        for name in self.home.folders(self.folder):
            if is_id(name):
                yield self._run(RunId(name))

    def _run(self, run_id: RunId) -> RunFolder:
        return RunFolder(self.home, self.folder / run_id, run_id)

    def _take_away(self, run: RunFolder) -> None:
        with self.index.vanishing(run.run_id):
            self.lost.move(run.path)
