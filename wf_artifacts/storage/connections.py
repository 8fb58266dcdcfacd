"""What the stores ask of a connection to a database, whichever it is."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from wf_artifacts.errors import StoreUnavailable
from wf_artifacts.storage.statements import NO_PARAMETERS, Parameters

Row = tuple[Any, ...]


class Answer(NamedTuple):
    """What became of a statement."""

    rows: list[Row]
    """Empty where the statement asks for none."""
    changed: int
    """How many rows it changed; of no meaning where it changes none."""


class Misunderstood(StoreUnavailable):
    """A statement asks for what the tables of the database do not have, or makes what they have already."""


class WouldWait(Exception):
    """What was to be done at once has to wait for somebody. Nothing was changed."""


class Connection(Protocol):
    """One connection, used by one thread at a time.

    Every method may raise:
        StoreUnavailable, StoreFull: the database refused or did not answer; the transaction has come to nothing.
        StateCorrupt: the database says that it is damaged.
    """

    @property
    def usable(self) -> bool:
        """False when it broke: only another one can go on."""
        ...

    def begin(self, *, writing: bool, sync: bool = True) -> None:
        """Begin a transaction: one that sees the database at one instant, or one that changes it.

        Without `sync`, what it changed survives this process, but perhaps not the machine.
        """
        ...

    def run(self, text: str, parameters: Parameters = NO_PARAMETERS) -> Answer: ...

    def run_many(self, text: str, rows: Sequence[Parameters]) -> None:
        """Run a statement that gives nothing, once with each of the rows."""
        ...

    def commit(self) -> None: ...

    def rollback(self) -> None: ...

    def close(self) -> None:
        """Close it. Never raises."""
        ...
