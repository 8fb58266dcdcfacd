"""Who holds claims in a database, and for how long: leases that a heartbeat renews.

An owner is one opening of a database by one process. It holds all its claims by one lease, a row of `wf_owners`; whose
row is missing or has run out holds nothing any more. It may come back, if its process only slept: whoever took a claim
over meanwhile has raised the claim's fence, and so refuses what the owner of before wants to write.
"""

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from secrets import token_hex
from typing import Final

from wf_artifacts.storage.database import Database, Transaction
from wf_core.errors import WfError


@dataclass(frozen=True, slots=True)
class Lease:
    """How long an owner is believed to be there."""

    duration: timedelta
    heartbeat: timedelta
    """How often it is renewed while the owner holds claims."""


LEASE: Final = Lease(duration=timedelta(seconds=15), heartbeat=timedelta(seconds=4))

_MILLISECOND = timedelta(milliseconds=1)

GiveBack = Callable[[Transaction], object]
"""Frees a claim in a transaction."""

ClaimKey = tuple[int, int]
"""The number of a row, and the fence of the claim on it."""


class Owner:
    """One opening of the database, as others see it."""

    def __init__(self, database: Database, lease: Lease) -> None:
        self.name = token_hex(16)
        self._database = database
        self._lease = lease
        self._changing = threading.Lock()
        self._claims = 0
        self._owed: dict[ClaimKey, GiveBack] = {}
        """Claims that could not be given back yet."""
        self._heart: threading.Thread | None = None
        self._closed = threading.Event()

    def appear(self) -> None:
        """Be seen by others, from the first claim on."""
        with self._changing:
            if self._heart is None:
                self._database.announce(self.name)
                self._heart = threading.Thread(target=self._beat, name="wf-lease", daemon=True)
                self._heart.start()

    def renew(self, transaction: Transaction) -> None:
        """Begin a lease, or let it begin anew. In the transaction that takes a claim."""
        transaction.change("renew_owner", owner=self.name, lease=self._lease.duration // _MILLISECOND)

    def hold(self) -> None:
        """Count a claim that was taken."""
        self._count(1)

    def owes(self, claim: ClaimKey) -> bool:
        """Tell whether a claim was given up here and could not be given back yet: it is free for this owner."""
        return claim in self._owed

    def release(self, claim: ClaimKey, give_back: GiveBack) -> None:
        """Give a claim back and count it off: now, or once the database answers again."""
        try:
            with self._database.writing(sync=False) as transaction:
                give_back(transaction)
        except WfError:
            self._owed[claim] = give_back
        else:
            self._owed.pop(claim, None)
            self._count(-1)

    def close(self) -> None:
        """Be gone: what is still claimed is free."""
        self._closed.set()
        if self._heart is None:
            return
        self._heart.join()
        with suppress(WfError), self._database.writing(sync=False) as transaction:
            transaction.change("forget_owner", owner=self.name)
        self._database.withdraw(self.name)

    def _count(self, change: int) -> None:
        with self._changing:
            self._claims += change

    def _beat(self) -> None:
        while not self._closed.wait(self._lease.heartbeat.total_seconds()):
            # A database that does not answer now may do so at the next beat; a claim that was lost meanwhile is
            # noticed by its fence.
            with suppress(WfError):
                if self._claims:
                    with self._database.writing(sync=False) as transaction:
                        self.renew(transaction)
            for claim, give_back in list(self._owed.items()):
                self.release(claim, give_back)


def bury(database: Database) -> None:
    """Remove the leases that have run out, and those of owners that have died: what they claimed is free at once."""
    with database.reading() as transaction:
        leases = transaction.rows("leases")
    died = [owner for owner, expired in leases if not expired and database.has_died(owner)]
    if died or any(expired for _, expired in leases):
        with database.writing(sync=False) as transaction:
            transaction.change("forget_expired")
            for owner in died:
                transaction.change("forget_owner", owner=owner)
