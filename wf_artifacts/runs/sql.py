"""The runs in a database, shared by every process that opens it.

Statements are in `storage/sql/runs.sql`. Who holds a run, and how far it is, belongs to `heads`; what is read of one
run to `reading`.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from anyio import CapacityLimiter

from wf_artifacts.errors import ClaimLost
from wf_artifacts.runs import reading, soundness
from wf_artifacts.runs.checkpoints import named
from wf_artifacts.runs.environment import ENVIRONMENT, PinnedEnvironment
from wf_artifacts.runs.heads import Head, Heads, SqlClaim
from wf_artifacts.runs.models import RECORD, Checkpoint, JournalRecord, RunRecord
from wf_artifacts.runs.reading import CHECKPOINT
from wf_artifacts.runs.rows import (
    columns,
    entry_rows,
    inputs_row,
    key_digest,
    numbered_rows,
    read_record,
)
from wf_artifacts.runs.rules import (
    RUNS,
    journal_line,
    require_first_state,
    require_next_inputs,
    require_next_state,
    require_same_input,
    size_of,
)
from wf_artifacts.runs.store import Claim, Created
from wf_artifacts.storage.connections import Row, WouldWait
from wf_artifacts.storage.database import Database, Transaction
from wf_artifacts.storage.digests import bytes_digest, principal_digest
from wf_artifacts.storage.fences import FIRST_FENCE
from wf_artifacts.storage.findings import Fault
from wf_artifacts.storage.owners import LEASE, Lease, bury
from wf_artifacts.storage.pages import Page
from wf_artifacts.storage.rows import LAST, list_rows
from wf_artifacts.storage.threads import finished, in_thread
from wf_core.errors import StateError
from wf_core.ids import DeploymentId, RunId, is_id
from wf_core.state import RunStatus


class SqlRuns:
    """Keeps runs in rows. `lease` says how long a process that shows no sign of life keeps its claims."""

    def __init__(self, database: Database, lease: Lease = LEASE) -> None:
        self._database = database
        self._heads = Heads(database, lease)

    @property
    def threads(self) -> CapacityLimiter:
        return self._database.threads

    def close(self) -> None:
        """Give up every claim."""
        self._heads.owner.close()

    def faults(self) -> Iterator[Fault]:
        """Look at everything that is kept of runs."""
        return soundness.faults(self._database)

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
        self._heads.owner.appear()
        with self._database.writing() as transaction:
            while not transaction.change("insert_run", **stored):
                earlier = _earlier(transaction, record)
                if earlier is not None:
                    return Created(earlier, created=False, claim=None)
            ((run,),) = transaction.rows("number_of_run", run_id=record.run_id)
            self._heads.insert(transaction, run, Head(record.trace_count, record.steps_executed))
            transaction.change("insert_environment", run=run, digest=bytes_digest(pinned), document=pinned)
            _put_checkpoint(transaction, run, checkpoint)
            transaction.change_many("insert_entry", entry_rows(run, 0, trace))
        claim = self._heads.claimed(record.run_id, run, FIRST_FENCE)
        claim.made = []
        return Created(record, created=True, claim=claim)

    @in_thread
    def earlier(self, record: RunRecord) -> RunRecord | None:
        if record.idempotency_key is None:
            return None
        with self._database.reading() as transaction:
            return _earlier(transaction, record)

    @in_thread
    def claim(self, run_id: RunId) -> Claim:
        return self._heads.claim(run_id)

    @in_thread
    def is_claimed(self, run_id: RunId) -> bool:
        return self._heads.is_claimed(run_id)

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
        held = self._heads.mine(claim)
        with self._heads.holding(held):
            earlier, head = self._heads.read(held)
            require_next_state(earlier, record, checkpoint, trace)
            moved = Head(record.trace_count, record.steps_executed)
            if checkpoint is None:
                moved = replace(moved, position=head.position, journal_bytes=head.journal_bytes)
            with self._database.writing() as transaction:
                self._heads.move(transaction, held, moved)
                transaction.change("update_run", run=held.number, status=record.status, record=stored)
                transaction.change_many("insert_entry", entry_rows(held.number, head.trace_count, trace))
                if checkpoint is not None:
                    _put_checkpoint(transaction, held.number, checkpoint)
                    made = reading.made(transaction, held.run_id, held.number) if held.made is None else held.made
                    transaction.change_many("insert_entry", numbered_rows(held.number, made))
                    transaction.change("clear_journal", run=held.number)
            held.known = moved
            if checkpoint is not None:
                held.made = []

    async def append(self, claim: Claim, records: Sequence[JournalRecord], *, sync: bool) -> int:
        held = self._heads.mine(claim)
        if sync and records and held.pace.allows(size_of(records)):
            with suppress(WouldWait):
                return self._write(held, records, sync=True, at_once=True)
        return await finished(self._append(held, records, sync=sync))

    async def synced(self, claim: Claim) -> None:
        held = self._heads.mine(claim)
        if held.released:
            raise ClaimLost(claim.run_id)
        if held.outstanding:
            # It was written at once, for waiting for it takes less time than handing it over.
            began = time.perf_counter()
            self._database.synced()
            held.outstanding = False
            held.pace.seconds += time.perf_counter() - began

    @in_thread
    def load(self, run_id: RunId, *, principal: str | None = None) -> RunRecord:
        with self._database.reading() as transaction:
            return reading.record(transaction, run_id, principal=principal)

    @in_thread
    def load_environment(self, run_id: RunId) -> PinnedEnvironment:
        with self._database.reading() as transaction:
            return reading.environment(transaction, run_id)

    @in_thread
    def load_checkpoint(self, run_id: RunId) -> Checkpoint:
        with self._database.reading() as transaction:
            return reading.checkpoint(transaction, run_id)

    @in_thread
    def load_journal(self, run_id: RunId) -> list[bytes]:
        with self._database.reading() as transaction:
            return reading.journal(transaction, run_id)

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
            return reading.trace(transaction, run_id, start, limit)

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
                    principal=principal_digest(principal),
                    status=status,
                    deployment_id=deployment_id,
                )

            return list_rows(RUNS, fetch, read_record, start=LAST, cursor=cursor, limit=limit)

    @in_thread
    def delete(self, run_id: RunId) -> None:
        with self._database.writing() as transaction:
            run, _ = self._heads.take(transaction, run_id)
            transaction.change("delete_run", run=run)

    @in_thread
    def _append(self, held: SqlClaim, records: Sequence[JournalRecord], *, sync: bool) -> int:
        return self._write(held, records, sync=sync)

    def _write(
        self,
        held: SqlClaim,
        records: Sequence[JournalRecord],
        *,
        sync: bool,
        at_once: bool = False,
    ) -> int:
        """Append inputs, as one row. What is written `at_once` is on disk once `synced` was awaited.

        Raises:
            WouldWait: `at_once`, and another change is under way; nothing is changed.
        """
        with self._heads.holding(held, at_once=at_once):
            began = time.perf_counter()
            head, held.known = held.known or self._heads.read(held)[1], None
            made, held.made = held.made, None
            require_next_inputs(head.position, records)
            lines = [journal_line(record) for record in records]
            moved = head.after(records, lines)
            if records:
                row = inputs_row(records, lines, first_entry=head.trace_count, journal_bytes=moved.journal_bytes)
                try:
                    self._heads.follow(held, row, sync=sync, at_once=at_once)
                except WouldWait:
                    held.known, held.made = head, made
                    raise
            else:
                with self._database.writing(sync=sync) as transaction:
                    self._heads.move(transaction, held, moved)
            held.known = moved
            held.outstanding |= at_once
            if made is not None:
                made += enumerate([entry for record in records for entry in record.trace], head.trace_count)
                held.made = made
            if sync:
                held.pace.seconds = time.perf_counter() - began
            return moved.journal_bytes


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
