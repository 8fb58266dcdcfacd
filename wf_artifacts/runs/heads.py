"""The row that says who holds a run and how far it is: claims on runs in a database.

The row of `wf_run_heads` names an owner (`storage.owners`) and a fence, which every taking of the claim raises. What is
written under a claim holds both against the row in the same transaction, so an owner whose claim has passed on writes
nothing.
"""

import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from anyio import CancelScope, CapacityLimiter

from wf_artifacts.errors import ClaimLost, RunBusy
from wf_artifacts.runs.models import JournalRecord, RunRecord
from wf_artifacts.runs.reading import find
from wf_artifacts.runs.rows import read_record
from wf_artifacts.runs.store import Claim
from wf_artifacts.storage.claims import Releasable
from wf_artifacts.storage.connections import WouldWait
from wf_artifacts.storage.database import Database, Transaction
from wf_artifacts.storage.owners import Lease, Owner
from wf_artifacts.storage.statements import Value
from wf_artifacts.storage.threads import Pace, in_thread
from wf_core.ids import RunId

_FIRST_FENCE: Final = 1


@dataclass(frozen=True, slots=True)
class Head:
    """How far a run is."""

    trace_count: int
    steps_executed: int
    position: int | None = None
    """Of the last input that the latest checkpoint lacks."""
    journal_bytes: int = 0

    def after(self, records: Sequence[JournalRecord], lines: Sequence[bytes]) -> "Head":
        """Say how far a run is that was given more inputs, whose `lines` are theirs in the journal."""
        if not records:
            return self
        last = records[-1]
        trace_count = self.trace_count + sum(len(record.trace) for record in records)
        return Head(trace_count, last.steps_executed, last.position, self.journal_bytes + sum(map(len, lines)))

    def columns(self) -> dict[str, Value]:
        """Give what `move_head` stores of it."""
        return {
            "trace_count": self.trace_count,
            "steps_executed": self.steps_executed,
            "position": self.position,
            "journal_bytes": self.journal_bytes,
        }


class SqlClaim(Releasable):
    """A fence, and how far the run is as long as it stands in the row."""

    def __init__(self, heads: "Heads", run_id: RunId, run: int, fence: int) -> None:
        self.run_id = run_id
        self.run = run
        """The number of the run."""
        self.fence = fence
        self.heads = heads
        self.writing = threading.Lock()
        self.released = False
        self.known: Head | None = None
        """How far the run is. None where only the row knows."""
        self.pace = Pace()

    async def release(self) -> None:
        with CancelScope(shield=True):
            await self.heads.release(self)


class Heads:
    """The rows of all runs of a database, as one owner takes claims on them."""

    def __init__(self, database: Database, lease: Lease) -> None:
        self._database = database
        self._owner = Owner(database, lease)

    @property
    def threads(self) -> CapacityLimiter:
        return self._database.threads

    def appear(self) -> None:
        """Be seen by others. Before the first claim."""
        self._owner.appear()

    def close(self) -> None:
        """Give up every claim."""
        self._owner.close()

    def insert(self, transaction: Transaction, run: int, head: Head) -> int:
        """Give a new run its row, claimed already, and tell the fence."""
        self._owner.renew(transaction)
        counted = {"trace_count": head.trace_count, "steps_executed": head.steps_executed}
        transaction.change("insert_head", run=run, fence=_FIRST_FENCE, owner=self._owner.name, **counted)
        return _FIRST_FENCE

    def take(self, transaction: Transaction, run_id: RunId) -> tuple[int, int]:
        """Take the claim on a run, and tell its number and the fence.

        Raises:
            RunNotFound: there is no such run.
            RunBusy: somebody holds it.
        """
        self._owner.renew(transaction)
        while True:
            run, fence, owner, held = find(transaction, "claim_on_run", run_id)
            if held and not self._database.has_died(owner):
                raise RunBusy(run_id)
            if transaction.change("take_claim", run=run, fence=fence, owner=self._owner.name):
                return run, fence + 1

    def claimed(self, run_id: RunId, run: int, fence: int) -> SqlClaim:
        """Make the claim whose taking was committed."""
        self._owner.hold()
        return SqlClaim(self, run_id, run, fence)

    def mine(self, claim: Claim) -> SqlClaim:
        """Accept a claim that was taken here.

        Raises:
            ClaimLost: it is none of these.
        """
        if not isinstance(claim, SqlClaim) or claim.heads is not self:
            raise ClaimLost(claim.run_id)
        return claim

    @contextmanager
    def holding(self, claim: Claim, *, at_once: bool = False) -> Generator[SqlClaim]:
        """Let writes under one claim come one after another.

        Raises:
            ClaimLost: it was released, or is none of these.
            WouldWait: `at_once`, and there is another.
        """
        held = self.mine(claim)
        if not held.writing.acquire(blocking=not at_once):
            raise WouldWait
        try:
            if held.released:
                raise ClaimLost(held.run_id)
            yield held
        finally:
            held.writing.release()

    def read(self, claim: SqlClaim) -> tuple[RunRecord, Head]:
        """Read what a write under a claim follows.

        Raises:
            ClaimLost: it has passed on.
        """
        with self._database.reading() as transaction:
            row = transaction.row("claimed_run", **self._place(claim))
        if row is None:
            raise ClaimLost(claim.run_id)
        return read_record(row), Head(*row[5:])

    def move(self, transaction: Transaction, claim: SqlClaim, head: Head) -> None:
        """Let a run stand at `head`, which is known as soon as that is committed.

        Raises:
            ClaimLost: the claim has passed on; nothing is changed.
        """
        claim.known = None
        if not transaction.change("move_head", **self._place(claim), **head.columns()):
            raise ClaimLost(claim.run_id)

    @in_thread
    def release(self, claim: SqlClaim) -> None:
        """Give a claim back, unless it was."""
        with claim.writing:
            if not claim.released:
                claim.released = True
                self._owner.release(lambda transaction: transaction.change("release_claim", **self._place(claim)))

    def _place(self, claim: SqlClaim) -> dict[str, int | str]:
        """Say which row it has to be: that of the run, as long as nobody else took it."""
        return {"run": claim.run, "fence": claim.fence, "owner": self._owner.name}
