"""What an examination of a store finds, and where a repair of a file tree puts what it takes away.

lost+found/runs/run_…/journal/000002.jsonl     what stood at runs/run_…/journal/000002.jsonl

In a database the statements of `sql/lost_and_found.sql` keep it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from typing import Final, Literal

from wf_artifacts.errors import DocumentUnreadable
from wf_artifacts.storage import atomic
from wf_artifacts.storage.home import Home
from wf_artifacts.storage.locks import locked
from wf_core.errors import FormatTooNew, StateError

MOVES_IT: Final = "Moves it to lost+found."
KEEPS_NUMBER: Final = "Moves it to lost+found. Its number is never given again."
MOVES_RUN: Final = "Moves the run to lost+found: nobody can go on with it."
MOVES_SESSION: Final = "Moves the session to lost+found: nobody can go on with it."


@dataclass(frozen=True, slots=True)
class Finding:
    """Something in a store that is not as it should be."""

    document: str
    """The file, by its path inside the home, or the row."""
    kind: Literal["damaged", "newer", "orphaned", "leftover", "unknown"]
    """Cannot be read; a newer version wrote it; belongs to nothing that there is; a crash left it; is none of ours."""
    problem: str
    repair: str | None
    """What a repair does about it. None where only a backup, a newer version or its owner can help."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A finding, and how it is repaired."""

    finding: Finding
    mend: Callable[[], None] | None = None
    """Do what `finding.repair` says, unless somebody uses the document at this moment."""


Examine = Callable[[], Iterator[Fault]]
"""Look at everything that is kept. Others may use it meanwhile: what they are in the middle of is no fault."""


def unreadable(
    document: str, error: StateError, repair: str | None = None, mend: Callable[[], None] | None = None
) -> Fault:
    """Report a document that cannot be read. One that is for a newer version or another user is left to them."""
    if isinstance(error, FormatTooNew):
        return Fault(Finding(document, "newer", error.message, None))
    reason = error.details.get("reason", error.message)
    if isinstance(error, DocumentUnreadable):
        return Fault(Finding(document, "damaged", f"This user may not read it: {reason}.", None))
    return Fault(Finding(document, "damaged", f"It is damaged: {reason}.", repair), mend)


def stray(document: str, path: Path, lost: "LostAndFound") -> Fault:
    """Report a file or a folder that belongs to nothing."""
    left = atomic.is_temporary(path.name)
    problem = "A crash left it." if left else "It is none of this store's."
    finding = Finding(document, "leftover" if left else "unknown", problem, MOVES_IT)
    return Fault(finding, lambda: lost.move(path))


def confirmed(judge: Callable[[], Fault | None], lock: Path) -> Iterator[Fault]:
    """Give the fault that `judge` finds, if it finds it under a lock too. It is mended under the lock as well."""
    if judge() is None:
        return
    atomic.make_folder(lock.parent)
    with locked(lock):
        fault = judge()
    if fault is None:
        return
    act = fault.mend

    def mend() -> None:
        with locked(lock):
            if judge() is not None and act is not None:
                act()

    yield Fault(fault.finding, act and mend)


class LostAndFound:
    """Keeps what repairs take away."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._folder = home.root / "lost+found"

    def move(self, path: Path) -> None:
        """Take a file or a folder away, whole."""
        with self._home.translated(path):
            atomic.move(path, self._place(path))

    def cut(self, path: Path, *, at: int) -> None:
        """Take away what stands behind byte `at` of a file."""
        with self._home.translated(path):
            with path.open("rb") as file:
                file.seek(at)
                atomic.replace_file(self._place(path), file.read())
            atomic.cut_file(path, at=at)

    def _place(self, path: Path) -> Path:
        """Find a place that is free: where there is one of its name already, a number is added."""
        place = self._folder / path.relative_to(self._home.root)
        atomic.make_folder(place.parent)
        numbered = (place.with_name(f"{place.name}.{number}") for number in count(1))
        return next(free for free in chain([place], numbered) if not free.exists())
