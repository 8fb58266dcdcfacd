"""What is wrong with an index of lists, and with what lies among the folders of its records."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final, Literal, TypeVar

from wf_artifacts.storage.findings import Fault, Finding, LostAndFound, stray
from wf_artifacts.storage.home import Home
from wf_artifacts.storage.lists import ListIndex
from wf_artifacts.storage.records import Record
from wf_core.errors import WfError

Id = TypeVar("Id", bound=str)
R = TypeVar("R", bound=Record)

_ATTEMPTS: Final = 3
"""How often to look at a record before the index is blamed."""


def index_faults(
    index: ListIndex[Id, R], records: str, every: Iterable[Id], look: Callable[[Id], R | WfError | None]
) -> Iterator[Fault]:
    """Compare an index with the `records` that there are: `look` tells what is found of one."""

    def is_lacking_now(identifier: Id) -> bool:
        found = look(identifier)
        return found is not None and not index.proposes(identifier, found)

    def is_lacking(identifier: Id) -> bool:
        """Tell whether a list would leave it out. A status that was seen may have changed since: look again then."""
        return all(is_lacking_now(identifier) for _ in range(_ATTEMPTS))

    def fault(kind: Literal["damaged", "leftover"], problem: str) -> Fault:
        return Fault(Finding(index.document, kind, problem, f"Makes it anew from the {records}."), index.make_anew)

    lacking = sum(map(is_lacking, every))
    if lacking:
        yield fault("damaged", f"It does not name every list that {lacking} {records} belong to.")
    gone = [identifier for identifier in index.newest() if look(identifier) is None]
    surplus = set(gone) - index.unsettled()
    if surplus:
        yield fault("leftover", f"It names {len(surplus)} {records} that are gone.")


def stray_faults(home: Home, index: ListIndex[Id, R], path: Path, lost: LostAndFound) -> Iterator[Fault]:
    """Report what is no record, or was being made or deleted when a crash came: not if somebody may be at it now."""
    with index.alone() as alone:
        if not alone or not home.has(path):
            return
    fault = stray(home.document(path), path, lost)

    def mend() -> None:
        with index.alone() as alone:
            if alone and home.has(path):
                lost.move(path)

    yield Fault(fault.finding, mend)
