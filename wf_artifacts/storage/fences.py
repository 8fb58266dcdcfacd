"""Claims on rows of a database, each guarded by a fence.

The row of what is claimed names an owner (`owners`) and a fence, which every taking of the claim raises. What is
written under a claim holds both against the row in the same transaction, so an owner whose claim has passed on writes
nothing.
"""

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, Final, Generic, TypeVar

from anyio import CancelScope, CapacityLimiter

from wf_artifacts.storage.claims import Releasable
from wf_artifacts.storage.connections import Row, WouldWait
from wf_artifacts.storage.database import Database, Transaction
from wf_artifacts.storage.owners import Lease, Owner
from wf_artifacts.storage.threads import in_thread
from wf_core.errors import WfError

FIRST_FENCE: Final = 1
"""That of a new row, which its maker has claimed."""

Id = TypeVar("Id", bound=str)
C = TypeVar("C", bound="FencedClaim[Any]")


class FencedClaim(Releasable, Generic[Id]):
    """The right to change a row, as long as nobody else took it."""

    def __init__(
        self, rows: "FencedRows[Id, Any]", identifier: Id, place: dict[str, int | str], number: int, fence: int
    ) -> None:
        self.rows = rows
        self.identifier = identifier
        self.place = place
        """Which row it has to be, by its number, its fence and its owner."""
        self.number = number
        self.fence = fence
        self.writing = threading.Lock()
        self.released = False

    async def release(self) -> None:
        with CancelScope(shield=True):
            await self.rows.release(self)


class FencedRows(Generic[Id, C]):
    """All rows of one kind, as one owner takes claims on them."""

    def __init__(
        self,
        database: Database,
        lease: Lease,
        noun: str,
        *,
        claims: type[C],
        find: Callable[[Transaction, str, Id], Row],
        busy: Callable[[Id], WfError],
        lost: Callable[[Id], WfError],
    ) -> None:
        """Use the statements `claim_on_<noun>`, `take_<noun>` and `release_<noun>`, with the number as `:<noun>`.

        `find` gives the row that a statement finds for an id, or raises.
        """
        self.owner = Owner(database, lease)
        self._database = database
        self._noun = noun
        self._claims = claims
        self._find = find
        self._busy = busy
        self._lost = lost

    @property
    def threads(self) -> CapacityLimiter:
        return self._database.threads

    def is_claimed(self, identifier: Id) -> bool:
        """Tell whether somebody holds one."""
        with self._database.reading() as transaction:
            return self._look(transaction, identifier)[2]

    def claim(self, identifier: Id) -> C:
        """Claim one. Raises as `take`."""
        self.owner.appear()
        with self._database.writing(sync=False) as transaction:
            number, fence = self.take(transaction, identifier)
        return self.claimed(identifier, number, fence)

    def take(self, transaction: Transaction, identifier: Id) -> tuple[int, int]:
        """Take the claim on one, and tell its number and the fence.

        Raises:
            NotFound: there is none of this id.
            StoreError: somebody holds it.
        """
        self.owner.renew(transaction)
        while True:
            number, fence, held = self._look(transaction, identifier)
            if held:
                raise self._busy(identifier)
            if transaction.change(f"take_{self._noun}", **self._place(number, fence)):
                return number, fence + 1

    def claimed(self, identifier: Id, number: int, fence: int) -> C:
        """Make the claim whose taking was committed."""
        self.owner.hold()
        return self._claims(self, identifier, self._place(number, fence), number, fence)

    @contextmanager
    def holding(self, claim: C, *, at_once: bool = False) -> Generator[None]:
        """Let writes under one claim come one after another.

        Raises:
            StoreError: it was released.
            WouldWait: `at_once`, and there is another.
        """
        if not claim.writing.acquire(blocking=not at_once):
            raise WouldWait
        try:
            if claim.released:
                raise self._lost(claim.identifier)
            yield
        finally:
            claim.writing.release()

    @in_thread
    def release(self, claim: C) -> None:
        """Give a claim back, unless it was."""
        with claim.writing:
            if not claim.released:
                claim.released = True
                self.owner.release(
                    (claim.number, claim.fence),
                    lambda transaction: transaction.change(f"release_{self._noun}", **claim.place),
                )

    def _look(self, transaction: Transaction, identifier: Id) -> tuple[int, int, bool]:
        """Give the number and the fence of one, and whether somebody holds it.

        What this owner gave up and could not give back yet, as on a disk without room, is held by nobody.
        """
        number, fence, owner, held = self._find(transaction, f"claim_on_{self._noun}", identifier)
        if owner == self.owner.name and self.owner.owes((number, fence)):
            return number, fence, False
        return number, fence, bool(held) and not self._database.has_died(owner)

    def _place(self, number: int, fence: int) -> dict[str, int | str]:
        return {self._noun: number, "fence": fence, "owner": self.owner.name}
