"""How rows of a database are looked through, and how what cannot be used any more is moved to lost+found.

Others may use the database meanwhile: a repair looks again, while no other repair is under way, and leaves alone what
somebody has claimed.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Final, Generic, NamedTuple, TypeVar

from wf_artifacts.storage.connections import Row
from wf_artifacts.storage.database import Database, Transaction
from wf_artifacts.storage.findings import MOVES_IT, Fault, Finding
from wf_artifacts.storage.rows import examine
from wf_artifacts.storage.soundness import take_lock
from wf_core.errors import StateCorrupt

_ROWS: Final = 100
"""How many rows are looked at in one go."""

Id = TypeVar("Id", bound=str)
Read = Callable[[Transaction, Id], object]


def every_row(
    database: Database, fetch: Callable[[Transaction, str, int], Sequence[Row]], *, start: str
) -> Iterator[Row]:
    """Give all rows of a list, while others come and go; `fetch` gives up to so many that follow an id."""
    after = start
    while True:
        with database.reading() as transaction:
            rows = fetch(transaction, after, _ROWS)
        yield from rows
        if len(rows) < _ROWS:
            return
        after = rows[-1][0]


@contextmanager
def repairing(database: Database) -> Generator[Transaction]:
    """Change the database while no other repair does."""
    with database.writing() as transaction:
        take_lock(transaction, "repairs")
        yield transaction


class Tail(NamedTuple):
    """Numbered rows of a run or a session, of which only so many count: what they are called, and the statements."""

    noun: str
    find: str
    keep: str
    delete: str


class Family(Generic[Id]):
    """Runs, or sessions: each is kept in several rows and claimed as a whole, and of no use where one cannot be read.

    Of one that has ended the rest can still be shown, so it stays.
    """

    def __init__(
        self,
        database: Database,
        noun: str,
        *,
        repair: str,
        keep: Sequence[str],
        delete: Sequence[str],
        orphans: str,
        tail: Tail,
    ) -> None:
        """Take what a repair says of one that it takes away, and the names of statements, for a number as `:<noun>`.

        `keep` copies its rows to lost+found, all but the tail; `delete` deletes those that can be left without their
        run or session, and `orphans` gives the numbers of these.
        """
        self._database = database
        self._noun = noun
        self._repair = repair
        self._keep_rows = keep
        self._delete_rows = delete
        self._find_orphans = orphans
        self._tail = tail

    def unreadable(self, identifier: Id, documents: Mapping[str, Read[Id]], *, ended: bool) -> list[Fault]:
        """Give the documents of one that cannot be read as it is at one moment, by what they are called."""
        with self._database.reading() as transaction:
            return [
                fault
                for name, read in documents.items()
                for fault in examine(
                    f"{name}/{identifier}",
                    partial(read, transaction, identifier),
                    None if ended else self._repair,
                    None if ended else partial(self._take_away, identifier, read),
                )
            ]

    def surplus(self, identifier: Id, document: str) -> Iterator[Fault]:
        """Look for rows of the tail behind the last one that counts."""
        with self._database.reading() as transaction:
            row = self._row(transaction, self._tail.find, identifier)
        if row and row[1]:
            problem = f"It has {row[1]} {self._tail.noun} behind its end that do not count."
            repair = f"Moves these {self._tail.noun} to lost+found."
            yield Fault(Finding(document, "leftover", problem, repair), partial(self._cut, identifier))

    def orphans(self) -> Iterator[Fault]:
        """Look for rows of what is gone: only a hand that switched the rules of the database off leaves them."""
        with self._database.reading() as transaction:
            orphans = transaction.rows(self._find_orphans)
        for (number,) in orphans:
            document, problem = f"rows of {self._noun} number {number}", f"There is no {self._noun} of this number."
            yield Fault(Finding(document, "orphaned", problem, MOVES_IT), partial(self._take_rows_away, number))

    def _take_away(self, identifier: Id, read: Read[Id]) -> None:
        """Move one to lost+found, unless somebody has it or it can be read by now."""
        with repairing(self._database) as transaction:
            number = self._take(transaction, identifier)
            if number is None:
                return
            try:
                read(transaction, identifier)
            except StateCorrupt:
                self._keep(transaction, number)
                self._change(transaction, f"delete_{self._noun}", number)

    def _cut(self, identifier: Id) -> None:
        with repairing(self._database) as transaction:
            number = self._take(transaction, identifier)
            end = self._row(transaction, self._tail.find, identifier)
            if number is not None and end is not None:
                self._change(transaction, self._tail.keep, number, first=end[0])
                self._change(transaction, self._tail.delete, number, first=end[0])

    def _take_rows_away(self, number: int) -> None:
        with repairing(self._database) as transaction:
            self._keep(transaction, number)
            for name in self._delete_rows:
                self._change(transaction, name, number)
            self._change(transaction, self._tail.delete, number, first=0)

    def _keep(self, transaction: Transaction, number: int) -> None:
        """Copy every row of one to lost+found."""
        for name in self._keep_rows:
            self._change(transaction, name, number)
        self._change(transaction, self._tail.keep, number, first=0)

    def _take(self, transaction: Transaction, identifier: Id) -> int | None:
        """Let nobody else go on with one, and give its number; None where somebody has it, or it is gone."""
        found = self._row(transaction, f"number_of_{self._noun}", identifier)
        claim = self._row(transaction, f"claim_on_{self._noun}", identifier)
        if found is None:
            return None
        if claim is not None:  # A run without a head can be held by nobody.
            number, fence, owner, held = claim
            if held and not self._database.has_died(owner):
                return None
            if not self._change(transaction, f"take_{self._noun}", number, fence=fence, owner=None):
                return None
        return found[0]

    def _row(self, transaction: Transaction, name: str, identifier: Id) -> Row | None:
        return transaction.row(name, **{f"{self._noun}_id": identifier})

    def _change(self, transaction: Transaction, name: str, number: int, **parameters: int | str | None) -> int:
        return transaction.change(name, **{self._noun: number}, **parameters)
