"""What is wrong with the waiting calls and the cached results in a database, and how it is mended.

A repair is one transaction: it locks the row, looks again, and moves it to the table of its kind in lost+found.
"""

from collections.abc import Iterator
from functools import partial

from wf_artifacts.calls.models import Waiting
from wf_artifacts.calls.rows import call_document, read_call, read_result, result_document
from wf_artifacts.storage.connections import Row
from wf_artifacts.storage.database import Database, Transaction
from wf_artifacts.storage.findings import MOVES_IT, Fault, Finding
from wf_artifacts.storage.repairs import every_row, repairing
from wf_artifacts.storage.rows import FIRST, examine
from wf_core.errors import StateCorrupt


def call_faults(database: Database) -> Iterator[Fault]:
    """Look at every waiting call, and whether there is a session, or a run, that it belongs to."""
    for token in _names(database, "all_continuations"):
        mend = partial(_mend_call, database, token)
        with database.reading() as transaction:
            found = list(examine(call_document(token), partial(_call, transaction, token), MOVES_IT, mend))
            waiting = None if found else _call(transaction, token)
            orphaned = waiting is not None and _is_orphaned(transaction, waiting)
        yield from found
        if waiting is not None and orphaned:
            problem = f"It belongs to {waiting.continuation.session_id}, which is gone."
            yield Fault(Finding(call_document(token), "leftover", problem, MOVES_IT), mend)


def result_faults(database: Database) -> Iterator[Fault]:
    """Look at every cached result."""
    for digest in _names(database, "all_cached_results"):
        mend = partial(_mend_result, database, digest)
        with database.reading() as transaction:
            read = partial(_require_result, transaction, digest)
            found = list(examine(result_document(digest), read, MOVES_IT, mend))
        yield from found


def _names(database: Database, statement: str) -> Iterator[str]:
    """Give the names of all rows, while others come and go."""

    def fetch(transaction: Transaction, after: str, limit: int) -> list[Row]:
        return transaction.rows(statement, after=after, limit=limit)

    return (row[0] for row in every_row(database, fetch, start=FIRST))


def _call(transaction: Transaction, token: str) -> Waiting | None:
    row = transaction.row("continuation", token=token)
    return None if row is None else read_call(row)


def _is_orphaned(transaction: Transaction, waiting: Waiting) -> bool:
    return transaction.row("owner_of_call", session_id=waiting.continuation.session_id) is None


def _require_result(transaction: Transaction, digest: str) -> None:
    row = transaction.row("cached_result", digest=digest)
    if row is not None:
        read_result(row)


def _mend_call(database: Database, token: str) -> None:
    """Take a call away that cannot be read, or belongs to nothing, if that is still so."""
    with database.writing() as transaction:
        if not transaction.change("lock_continuation", token=token):
            return
        try:
            waiting = _call(transaction, token)
            sound = waiting is not None and not _is_orphaned(transaction, waiting)
        except StateCorrupt:
            sound = False
        if not sound:
            transaction.change("keep_continuation", token=token)
            transaction.change("delete_continuation", token=token)


def _mend_result(database: Database, digest: str) -> None:
    with repairing(database) as transaction:
        try:
            _require_result(transaction, digest)
        except StateCorrupt:
            transaction.change("keep_cached_result", digest=digest)
            transaction.change("delete_cached_result", digest=digest)
