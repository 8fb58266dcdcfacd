"""Who holds a run (`storage.fences`), and how far it is.

The row of `wf_run_heads` says the one, and how far the run was when it was last committed or released. From there the
journal goes on: its last row says how far it leads, so that a step need not touch the head. `wf_run_progress` is both.
"""

from collections.abc import Sequence

from wf_artifacts.errors import ClaimLost, RunBusy
from wf_artifacts.runs.models import JournalRecord, RunRecord
from wf_artifacts.runs.reading import find
from wf_artifacts.runs.rows import read_record
from wf_artifacts.runs.store import Claim
from wf_artifacts.storage.database import Database, Transaction
from wf_artifacts.storage.fences import FIRST_FENCE, FencedClaim, FencedRows
from wf_artifacts.storage.owners import Lease
from wf_artifacts.storage.statements import Parameters, Value
from wf_artifacts.storage.threads import Pace
from wf_core.frozen import frozen
from wf_core.ids import RunId


@frozen
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


class SqlClaim(FencedClaim[RunId]):
    """A claim on a run, and how far the run is."""

    def __init__(self, rows: "Heads", identifier: RunId, place: dict[str, int | str], number: int, fence: int) -> None:
        super().__init__(rows, identifier, place, number, fence)
        self.known: Head | None = None
        """None where only the database knows."""
        self.made: list[tuple[int, bytes]] | None = None
        """The trace entries in the journal, each with its number. None where only the database knows."""
        self.outstanding = False
        """Whether somebody is to wait until what was appended is on disk."""
        self.pace = Pace()

    @property
    def run_id(self) -> RunId:
        return self.identifier


class Heads(FencedRows[RunId, SqlClaim]):
    """The rows of all runs of a database, as one owner takes claims on them."""

    def __init__(self, database: Database, lease: Lease) -> None:
        super().__init__(database, lease, "run", claims=SqlClaim, find=find, busy=RunBusy, lost=ClaimLost)

    def insert(self, transaction: Transaction, run: int, head: Head) -> None:
        """Give a new run its row, claimed already."""
        self.owner.renew(transaction)
        counted = {"trace_count": head.trace_count, "steps_executed": head.steps_executed}
        transaction.change("insert_head", run=run, fence=FIRST_FENCE, owner=self.owner.name, **counted)

    def mine(self, claim: Claim) -> SqlClaim:
        """Accept a claim that was taken here.

        Raises:
            ClaimLost: it is none of these.
        """
        if not isinstance(claim, SqlClaim) or claim.rows is not self:
            raise ClaimLost(claim.run_id)
        return claim

    def read(self, claim: SqlClaim) -> tuple[RunRecord, Head]:
        """Read what a write under a claim follows.

        Raises:
            ClaimLost: it has passed on.
        """
        with self._database.reading() as transaction:
            row = transaction.row("claimed_run", **claim.place)
        if row is None:
            raise ClaimLost(claim.run_id)
        return read_record(row), Head(*row[5:])

    def follow(self, claim: SqlClaim, inputs: Parameters, *, sync: bool, at_once: bool) -> None:
        """Let a run stand where a row of inputs leads, in one statement that holds the claim against the head.

        Raises:
            ClaimLost: the claim has passed on; nothing is changed.
            WouldWait: `at_once`, and another change is under way; nothing is changed.
        """
        name, row = "insert_inputs", {**claim.place, **inputs}
        database = self._database
        if not (database.change_at_once(name, row) if at_once else database.change(name, row, sync=sync)):
            raise ClaimLost(claim.run_id)

    def move(self, transaction: Transaction, claim: SqlClaim, head: Head) -> None:
        """Let a run stand at `head`, which is known as soon as that is committed.

        Raises:
            ClaimLost: the claim has passed on; nothing is changed.
        """
        claim.known = None
        if not transaction.change("move_head", **claim.place, **head.columns()):
            raise ClaimLost(claim.run_id)
