"""The runs of one process, gone when it ends. The simplest store that keeps the contract.

Records are kept as the documents that other backends store, so a value that is changed after it was stored, or after it
was loaded, changes nothing here, and what is no JSON is refused here too.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from wf_artifacts.errors import ClaimLost, RunBusy, RunNotFound
from wf_artifacts.runs.environment import ENVIRONMENT, PinnedEnvironment
from wf_artifacts.runs.models import RECORD, Checkpoint, JournalRecord, RunRecord
from wf_artifacts.runs.rules import (
    COMPARED_RUNS,
    RUNS,
    belongs,
    journal_line,
    require_first_state,
    require_next_inputs,
    require_next_state,
    require_same_input,
)
from wf_artifacts.runs.store import Claim, Created
from wf_artifacts.storage.claims import Releasable
from wf_artifacts.storage.pages import Page, collect, descending
from wf_core import jsonvalue
from wf_core.ids import DeploymentId, RunId, close_matches
from wf_core.state import RunStatus

Key = tuple[str, DeploymentId, str]


@dataclass(slots=True)
class _Run:
    record: bytes
    environment: bytes
    checkpoint: Checkpoint
    trace: list[bytes]
    journal: list[bytes] = field(default_factory=list[bytes])
    position: int | None = None
    """Of the last input in the journal."""
    claim: "MemoryClaim | None" = None


class MemoryClaim(Releasable):
    """The right to advance one run, as long as the run points back at it."""

    def __init__(self, run_id: RunId, run: _Run) -> None:
        self.run_id = run_id
        self._run = run
        run.claim = self

    async def release(self) -> None:
        if self._run.claim is self:
            self._run.claim = None


class MemoryRuns:
    """Keeps runs in dictionaries."""

    def __init__(self) -> None:
        self._runs: dict[RunId, _Run] = {}
        self._keys: dict[Key, RunId] = {}

    async def create(
        self,
        record: RunRecord,
        environment: PinnedEnvironment,
        checkpoint: Checkpoint,
        *,
        trace: Sequence[bytes] = (),
    ) -> Created:
        require_first_state(record, checkpoint, trace)
        earlier = await self.earlier(record)
        if earlier is not None:
            return Created(earlier, created=False, claim=None)
        key = _key(record)
        run = _Run(RECORD.encode(record), ENVIRONMENT.encode(environment), checkpoint, list(trace))
        self._runs[record.run_id] = run
        if key is not None:
            self._keys[key] = record.run_id
        return Created(record, created=True, claim=MemoryClaim(record.run_id, run))

    async def earlier(self, record: RunRecord) -> RunRecord | None:
        key = _key(record)
        if key not in self._keys:
            return None
        earlier = self._record(self._keys[key])
        require_same_input(earlier, record)
        return earlier

    async def claim(self, run_id: RunId) -> Claim:
        run = self._run(run_id)
        if run.claim is not None:
            raise RunBusy(run_id)
        return MemoryClaim(run_id, run)

    async def is_claimed(self, run_id: RunId) -> bool:
        return self._run(run_id).claim is not None

    async def commit(
        self,
        claim: Claim,
        record: RunRecord,
        *,
        checkpoint: Checkpoint | None = None,
        trace: Sequence[bytes] = (),
    ) -> None:
        run = self._claimed(claim)
        require_next_state(self._record(claim.run_id), record, checkpoint, trace)
        run.record = RECORD.encode(record)
        run.trace.extend(trace)
        if checkpoint is not None:
            run.checkpoint = checkpoint
            run.journal, run.position = [], None

    async def append(
        self,
        claim: Claim,
        records: Sequence[JournalRecord],
        *,
        sync: bool,  # noqa: ARG002
    ) -> int:
        run = self._claimed(claim)
        require_next_inputs(run.position, records)
        for record in records:
            run.journal.append(journal_line(record))
            run.trace.extend(record.trace)
            run.position = record.position
        if records:
            counted = {"trace_count": len(run.trace), "steps_executed": records[-1].steps_executed}
            run.record = RECORD.encode(self._record(claim.run_id).model_copy(update=counted))
        return sum(map(len, run.journal))

    async def synced(self, claim: Claim) -> None:
        self._claimed(claim)

    async def load(self, run_id: RunId, *, principal: str | None = None) -> RunRecord:
        self._run(run_id, principal)
        return self._record(run_id)

    async def load_environment(self, run_id: RunId) -> PinnedEnvironment:
        return ENVIRONMENT.decode(self._run(run_id).environment, run_id)

    async def load_checkpoint(self, run_id: RunId) -> Checkpoint:
        return self._run(run_id).checkpoint

    async def load_journal(self, run_id: RunId) -> list[bytes]:
        return list(self._run(run_id).journal)

    async def abandoned(self) -> list[RunId]:
        idle = (run_id for run_id, run in self._runs.items() if run.claim is None)
        return [run_id for run_id in descending(RUNS, idle, None) if self._record(run_id).status == "running"]

    async def read_trace(self, run_id: RunId, start: int, limit: int) -> list[dict[str, Any]]:
        entries = self._run(run_id).trace[start : start + limit]
        return [cast("dict[str, Any]", jsonvalue.loads(entry)) for entry in entries]

    async def list_runs(
        self,
        *,
        principal: str | None,
        status: RunStatus | None = None,
        deployment_id: DeploymentId | None = None,
        cursor: str | None = None,
        limit: int,
    ) -> Page[RunRecord]:
        def read(run_id: RunId) -> RunRecord | None:
            record = self._record(run_id)
            return record if belongs(record, principal, status, deployment_id) else None

        return collect(RUNS, descending(RUNS, self._runs, cursor), read, limit)

    async def delete(self, run_id: RunId) -> None:
        if self._run(run_id).claim is not None:
            raise RunBusy(run_id)
        key = _key(self._record(run_id))
        del self._runs[run_id]
        if key is not None:
            del self._keys[key]

    def _run(self, run_id: RunId, principal: str | None = None) -> _Run:
        run = self._runs.get(run_id)
        if run is None or not belongs(self._record(run_id), principal):
            visible = [known for known in self._newest() if belongs(self._record(known), principal)]
            raise RunNotFound(run_id, close=close_matches(run_id, visible))
        return run

    def _claimed(self, claim: Claim) -> _Run:
        run = self._runs.get(claim.run_id)
        if run is None or run.claim is not claim:
            raise ClaimLost(claim.run_id)
        return run

    def _newest(self) -> list[RunId]:
        return descending(RUNS, self._runs, None)[:COMPARED_RUNS]

    def _record(self, run_id: RunId) -> RunRecord:
        return RECORD.decode(self._runs[run_id].record, run_id)


def _key(record: RunRecord) -> Key | None:
    if record.idempotency_key is None:
        return None
    return record.principal, record.deployment_id, record.idempotency_key
