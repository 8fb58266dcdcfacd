"""What is wrong with a database whatever is kept in it, and how it is mended.

Looked at before what is kept: repairs of that take the locks that are put back here.
"""

from collections.abc import Iterator
from functools import partial
from typing import Final, Literal

from wf_artifacts.storage.database import Database, Transaction
from wf_artifacts.storage.documents import corrupt
from wf_artifacts.storage.findings import Fault, Finding
from wf_artifacts.storage.misfits import misfits
from wf_core.errors import StateCorrupt

LOCKS: Final = ("catalog", "repairs")
"""The rows of `wf_locks` that are always there."""

_IDS: Final = frozenset(
    {"artifact_id", "deployment_id", "digest", "last_version", "run_id", "session_id", "token", "version"}
)
"""Columns by which lists find rows."""
_TABLES: Final = (
    "wf_artifacts ", "wf_cached_results ", "wf_continuations ", "wf_deployments ", "wf_runs ", "wf_sessions ",
    "wf_versions ",
)  # fmt: skip


def faults(database: Database) -> Iterator[Fault]:
    """Give what is wrong."""
    with database.reading() as transaction:
        there = {name for (name,) in transaction.rows("locks")}
    for name in LOCKS:
        if name not in there:
            finding = Finding(_document(name), "damaged", "It is missing: nobody waits for others.", "Puts it back.")
            yield Fault(finding, partial(_restore, database, name))
    if not database.checks_types:
        with database.reading() as transaction:
            found = list(misfits(transaction))
        for one in found:
            yield Fault(Finding(one.row, "damaged", f"It is damaged: {one.problem}.", None))


def unlisted(database: Database) -> list[StateCorrupt]:
    """Say of each row that no list may name, because what names it is of another type, that it is damaged."""
    if database.checks_types:
        return []
    with database.reading() as transaction:
        return [
            corrupt(one.row, one.problem)
            for one in misfits(transaction)
            if one.column in _IDS and one.row.startswith(_TABLES)
        ]


def take_lock(transaction: Transaction, lock: Literal["catalog", "repairs"]) -> None:
    """Keep others who take this lock waiting until the transaction ends.

    Raises:
        StateCorrupt: there is no such lock, so nobody would wait; nothing was changed.
    """
    if not transaction.change(f"lock_{lock}"):
        error = corrupt(_document(lock), "it is missing")
        error.hint = "`wf doctor --repair` puts it back."
        raise error


def _restore(database: Database, name: str) -> None:
    with database.writing() as transaction:
        transaction.change("restore_lock", lock=name)


def _document(lock: str) -> str:
    return f"wf_locks/{lock}"
