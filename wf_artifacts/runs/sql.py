"""The runs in a database, shared by every process that opens it.

Statements are in `storage/sql/runs.sql`. A claim is the row of `wf_run_heads` that names an owner (`storage.owners`)
and a fence, which every taking of the claim raises: what is written under a claim holds both against the row in the
same transaction, so an owner whose claim has passed on writes nothing.
"""

import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from types import TracebackType
from typing import Any, Final, Self

from anyio import CancelScope, CapacityLimiter

from wf_artifacts.errors import ClaimLost, RunBusy, RunNotFound
from wf_artifacts.runs.checkpoints import NamedCheckpoint, named, whole
from wf_artifacts.runs.environment import ENVIRONMENT, PinnedEnvironment
from wf_artifacts.runs.models import RECORD, Checkpoint, JournalRecord, RunRecord, RunStatus
from wf_artifacts.runs.rows import (
    columns,
    entry_rows,
    input_rows,
    key_digest,
    principal_digest,
    read_entries,
    read_entry,
    read_journal,
    read_record,
)
from wf_artifacts.runs.rules import (
    COMPARED_RUNS,
    RUNS,
    journal_line,
    require_first_state,
    require_next_inputs,
    require_next_state,
    require_same_input,
)
from wf_artifacts.runs.store import Claim, Created
from wf_artifacts.storage.connections import Row
from wf_artifacts.storage.database import Database, Transaction
from wf_artifacts.storage.digests import bytes_digest
from wf_artifacts.storage.documents import Format, corrupt
from wf_artifacts.storage.owners import LEASE, Lease, Owner, bury
from wf_artifacts.storage.pages import Page
from wf_artifacts.storage.rows import LAST, blob, list_rows, load
from wf_artifacts.storage.threads import in_thread
from wf_core.errors import StateError
from wf_core.ids import DeploymentId, RunId, close_matches, is_id

CHECKPOINT = Format("wf.run_checkpoint", 1, NamedCheckpoint)

_FIRST_FENCE: Final = 1


@dataclass(frozen=True, slots=True)
class _Head:
    """How far a run is, as its row says."""

    trace_count: int
    steps_executed: int
    position: int | None = None
    """Of the last input that the latest checkpoint lacks."""
    journal_bytes: int = 0

    def after(self, records: Sequence[JournalRecord]) -> Self:
        """Say how far a run is that was given more inputs."""
        if not records:
            return self
        last = records[-1]
        return replace(
            self,
            trace_count=self.trace_count + sum(len(record.trace) for record in records),
            steps_executed=last.steps_executed,
            position=last.position,
            journal_bytes=self.journal_bytes + sum(map(len, map(journal_line, records))),
        )


class SqlClaim:
    """A fence, and what the row of the run says as long as it stands there."""

    def __init__(self, store: "SqlRuns", run_id: RunId, run: int, fence: int) -> None:
        self.run_id = run_id
        self.run = run
        self.fence = fence
        self.store = store
        self.writing = threading.Lock()
        self.released = False
        self.head: _Head | None = None
        """None where only the row knows."""

    async def release(self) -> None:
        with CancelScope(shield=True):
            await self.store.release(self)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.release()


class SqlRuns:
    """Keeps runs in rows. `lease` says how long a process that shows no sign of life keeps its claims."""

    def __init__(self, database: Database, lease: Lease = LEASE) -> None:
        self._database = database
        self._owner = Owner(database, lease)

    @property
    def threads(self) -> CapacityLimiter:
        return self._database.threads

    def close(self) -> None:
        """Give up every claim."""
        self._owner.close()

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
        stored = columns(record)
        pinned = ENVIRONMENT.encode(environment)
        self._owner.appear()
        with self._database.writing() as transaction:
            while not transaction.change("insert_run", **stored):
                earlier = _earlier(transaction, record)
                if earlier is not None:
                    return Created(earlier, created=False, claim=None)
            ((run,),) = transaction.rows("number_of_run", run_id=record.run_id)
            self._owner.renew(transaction)
            transaction.change(
                "insert_head",
                run=run,
                fence=_FIRST_FENCE,
                owner=self._owner.name,
                trace_count=record.trace_count,
                steps_executed=record.steps_executed,
            )
            transaction.change("insert_environment", run=run, digest=bytes_digest(pinned), document=pinned)
            _put_checkpoint(transaction, run, checkpoint)
            transaction.change_many("insert_entry", entry_rows(run, 0, trace))
        return Created(record, created=True, claim=self._claimed(record.run_id, run, _FIRST_FENCE))

    @in_thread
    def earlier(self, record: RunRecord) -> RunRecord | None:
        if record.idempotency_key is None:
            return None
        with self._database.reading() as transaction:
            return _earlier(transaction, record)

    @in_thread
    def claim(self, run_id: RunId) -> Claim:
        self._owner.appear()
        with self._database.writing(sync=False) as transaction:
            self._owner.renew(transaction)
            run, fence = self._take(transaction, run_id)
        return self._claimed(run_id, run, fence)

    @in_thread
    def is_claimed(self, run_id: RunId) -> bool:
        with self._database.reading() as transaction:
            _, _, owner, held = _find(transaction, "claim_on_run", run_id)
        return bool(held) and not self._database.has_died(owner)

    @in_thread
    def commit(
        self,
        claim: Claim,
        record: RunRecord,
        *,
        checkpoint: Checkpoint | None = None,
        trace: Sequence[bytes] = (),
    ) -> None:
        stored = RECORD.encode(record)
        with self._holding(claim) as held:
            earlier, head = self._stands(held)
            require_next_state(earlier, record, checkpoint, trace)
            moved = _Head(record.trace_count, record.steps_executed, head.position, head.journal_bytes)
            if checkpoint is not None:
                moved = _Head(record.trace_count, record.steps_executed)
            with self._moving(held, moved, sync=True) as transaction:
                transaction.change("update_run", run=held.run, status=record.status, record=stored)
                transaction.change_many("insert_entry", entry_rows(held.run, head.trace_count, trace))
                if checkpoint is not None:
                    _put_checkpoint(transaction, held.run, checkpoint)
                    transaction.change("clear_journal", run=held.run)

    @in_thread
    def append(self, claim: Claim, records: Sequence[JournalRecord], *, sync: bool) -> int:
        with self._holding(claim) as held:
            head = held.head or self._stands(held)[1]
            require_next_inputs(head.position, records)
            moved = head.after(records)
            with self._moving(held, moved, sync=sync) as transaction:
                transaction.change_many("insert_input", list(input_rows(held.run, head.trace_count, records)))
                entries = [entry for record in records for entry in record.trace]
                transaction.change_many("insert_entry", entry_rows(held.run, head.trace_count, entries))
            return moved.journal_bytes

    @in_thread
    def load(self, run_id: RunId, *, principal: str | None = None) -> RunRecord:
        with self._database.reading() as transaction:
            return read_record(_find(transaction, "run", run_id, principal=principal))

    @in_thread
    def load_environment(self, run_id: RunId) -> PinnedEnvironment:
        with self._database.reading() as transaction:
            digest, document = _find(transaction, "environment", run_id)
        where = f"environments/{run_id}"
        environment = load(document, ENVIRONMENT, where)
        if bytes_digest(document) != digest:
            raise corrupt(where, "it is not what the run was started with")
        return environment

    @in_thread
    def load_checkpoint(self, run_id: RunId) -> Checkpoint:
        with self._database.reading() as transaction:
            document, state = _find(transaction, "checkpoint", run_id)
        where = f"checkpoints/{run_id}"
        return whole(run_id, load(document, CHECKPOINT, where), blob(state, where), where)

    @in_thread
    def load_journal(self, run_id: RunId) -> list[bytes]:
        with self._database.reading() as transaction:
            run, trace_count, length = _find(transaction, "ends", run_id)
            inputs = transaction.rows("journal", run=run)
            trace = range(inputs[0][3] if inputs else trace_count, trace_count)
            entries = _entries(transaction, run_id, run, trace)
        return read_journal(run_id, inputs, trace, entries, length=length)

    @in_thread
    def abandoned(self) -> list[RunId]:
        bury(self._database)
        with self._database.reading() as transaction:
            rows = transaction.rows("abandoned_runs")
        found: list[RunId] = []
        for row in rows:
            with suppress(StateError):
                found.append(read_record(row).run_id)
        return found

    @in_thread
    def read_trace(self, run_id: RunId, start: int, limit: int) -> list[dict[str, Any]]:
        with self._database.reading() as transaction:
            run, trace_count, _ = _find(transaction, "ends", run_id)
            numbers = range(start, min(start + limit, trace_count))
            entries = _entries(transaction, run_id, run, numbers)
        return [read_entry(run_id, number, entry) for number, entry in zip(numbers, entries, strict=True)]

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
        with self._database.reading() as transaction:

            def fetch(before: str, limit: int) -> list[Row]:
                if deployment_id is not None and not is_id(deployment_id):
                    return []
                return transaction.rows(
                    "list_runs",
                    before=before,
                    limit=limit,
                    principal=None if principal is None else principal_digest(principal),
                    status=status,
                    deployment_id=deployment_id,
                )

            return list_rows(RUNS, fetch, read_record, start=LAST, cursor=cursor, limit=limit)

    @in_thread
    def delete(self, run_id: RunId) -> None:
        with self._database.writing() as transaction:
            run, _ = self._take(transaction, run_id)
            transaction.change("delete_run", run=run)

    @in_thread
    def release(self, claim: SqlClaim) -> None:
        """Give a claim back."""
        with claim.writing:
            if not claim.released:
                claim.released = True
                named_so = {"run": claim.run, "fence": claim.fence, "owner": self._owner.name}
                self._owner.release(lambda transaction: transaction.change("release_claim", **named_so))

    def _take(self, transaction: Transaction, run_id: RunId) -> tuple[int, int]:
        """Take the claim on a run, and give its number and the fence."""
        while True:
            run, fence, owner, held = _find(transaction, "claim_on_run", run_id)
            if held and not self._database.has_died(owner):
                raise RunBusy(run_id)
            if transaction.change("take_claim", run=run, fence=fence, owner=self._owner.name):
                return run, fence + 1

    def _claimed(self, run_id: RunId, run: int, fence: int) -> SqlClaim:
        self._owner.hold()
        return SqlClaim(self, run_id, run, fence)

    @contextmanager
    def _holding(self, claim: Claim) -> Generator[SqlClaim]:
        """Let writes under one claim come one after another, and none after its release."""
        if not isinstance(claim, SqlClaim) or claim.store is not self:
            raise ClaimLost(claim.run_id)
        with claim.writing:
            if claim.released:
                raise ClaimLost(claim.run_id)
            yield claim

    def _stands(self, claim: SqlClaim) -> tuple[RunRecord, _Head]:
        """Read what a write under a claim follows."""
        with self._database.reading() as transaction:
            row = transaction.row("claimed_run", run=claim.run, fence=claim.fence, owner=self._owner.name)
        if row is None:
            raise ClaimLost(claim.run_id)
        return read_record(row), _Head(*row[5:])

    @contextmanager
    def _moving(self, claim: SqlClaim, head: _Head, *, sync: bool) -> Generator[Transaction]:
        """Let a run stand at `head` when the block ends, unless its claim has passed on."""
        claim.head = None
        with self._database.writing(sync=sync) as transaction:
            named_so = {"run": claim.run, "fence": claim.fence, "owner": self._owner.name}
            if not transaction.change("move_head", **named_so, **asdict(head)):
                raise ClaimLost(claim.run_id)
            yield transaction
        claim.head = head


def _find(transaction: Transaction, name: str, run_id: RunId, *, principal: str | None = None) -> Row:
    """Give the row that a statement finds for a run."""
    asked = None if principal is None else principal_digest(principal)
    row = transaction.row(name, run_id=run_id, principal=asked) if is_id(run_id) else None
    if row is None:
        newest = (known for (known,) in transaction.rows("newest_ids", principal=asked, limit=COMPARED_RUNS))
        raise RunNotFound(run_id, close=close_matches(run_id, newest))
    return row


def _earlier(transaction: Transaction, record: RunRecord) -> RunRecord | None:
    """Give the run that the key of a record stands for."""
    row = transaction.row("run_of_key", idempotency_key=key_digest(record))
    if row is None:
        return None
    earlier = read_record(row)
    require_same_input(earlier, record)
    return earlier


def _put_checkpoint(transaction: Transaction, run: int, checkpoint: Checkpoint) -> None:
    document = CHECKPOINT.encode(named(checkpoint))
    transaction.change("put_checkpoint", run=run, document=document, state=checkpoint.state)


def _entries(transaction: Transaction, run_id: RunId, run: int, numbers: range) -> list[bytes]:
    """Give the trace entries with these numbers."""
    if not numbers:
        return []
    rows = transaction.rows("entries", run=run, first=numbers.start, end=numbers.stop)
    return read_entries(run_id, rows, numbers)
