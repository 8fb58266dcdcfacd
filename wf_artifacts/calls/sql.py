"""Waiting calls and cached results in a database, shared by every process that opens it.

Statements are in `storage/sql/calls.sql`. Whoever changes a call locks its row first, then reads it.
"""

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from itertools import chain, islice
from typing import TypeVar

from anyio import CapacityLimiter

from wf_artifacts.calls import rules, soundness
from wf_artifacts.calls.models import CachedResult, Continuation, Delivery, DeliveryAnswer, Waiting
from wf_artifacts.calls.rows import call_columns, read_call, read_result, result_columns
from wf_artifacts.calls.seen import Seen
from wf_artifacts.storage.connections import Row
from wf_artifacts.storage.database import Database, Transaction
from wf_artifacts.storage.findings import Fault
from wf_artifacts.storage.pages import Page
from wf_artifacts.storage.rows import FIRST, LAST, list_rows
from wf_artifacts.storage.statements import Value
from wf_artifacts.storage.threads import in_thread
from wf_core.errors import StateError
from wf_core.ids import is_id
from wf_core.jsonvalue import JsonValue, dumps

T = TypeVar("T")

logger = logging.getLogger(__name__)

AT_ONCE = 100
"""How many calls are looked at with one statement, where the first that are open are enough."""


class SqlContinuations:
    """Keeps each continuation in a row, with what became of it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._seen = Seen()

    @property
    def threads(self) -> CapacityLimiter:
        return self._database.threads

    def faults(self) -> Iterator[Fault]:
        """Look at every waiting call."""
        return soundness.call_faults(self._database)

    @in_thread
    def put(self, continuation: Continuation) -> Waiting:
        rules.require_storable(continuation)
        fresh = call_columns(rules.putting(None, continuation))
        with self._database.writing() as transaction:
            while not transaction.change("insert_continuation", **fresh):
                earlier = _locked(transaction, continuation.token)
                if earlier is not None:
                    stored = rules.putting(earlier, continuation)
                    _update(transaction, earlier, stored)
                    return stored
        return rules.putting(None, continuation)

    @in_thread
    def load(self, token: str, *, principal: str | None, now: datetime) -> Waiting:
        with self._database.reading() as transaction:
            return rules.at(rules.require_found(_find(transaction, token), token, principal), now)

    @in_thread
    def deliver(self, token: str, delivery: Delivery, *, principal: str | None, now: datetime) -> DeliveryAnswer:
        def change(waiting: Waiting) -> tuple[DeliveryAnswer, Waiting]:
            return rules.delivering(waiting, delivery, principal, now)

        return self._change(token, change, "unknown")

    @in_thread
    def close(self, token: str, *, now: datetime) -> bool:
        return self._change(token, lambda waiting: rules.closing(waiting, now), False)

    @in_thread
    def deliveries(self, tokens: Iterable[str], *, now: datetime) -> list[Waiting]:
        found: list[Waiting] = []
        due: list[str] = []
        wanted = list(tokens)
        with self._database.reading() as transaction:
            for token, mark in _marks(transaction, wanted):
                if self._seen.state(token, mark, now) == "open":
                    continue
                with suppress(StateError):
                    waiting = self._looked_at(transaction, token, mark)
                    if waiting is not None and waiting.is_due(now):
                        due.append(token)
                    elif waiting is not None and waiting.state in rules.TOLD:
                        found.append(waiting)
        for token in due:
            waiting = self._change(token, lambda found: rules.expiring(found, now), None)
            if waiting is not None and waiting.state in rules.TOLD:
                found.append(waiting)
        order = {token: number for number, token in enumerate(wanted)}
        return sorted(found, key=lambda waiting: order[waiting.token])

    @in_thread
    def first_open(self, tokens: Iterable[str], *, now: datetime, limit: int) -> list[Waiting]:
        with self._database.reading() as transaction:
            return list(islice(self._open_ones(transaction, list(tokens), now), limit))

    @in_thread
    def of_session(self, session_id: str, *, now: datetime) -> list[Waiting]:
        if not is_id(session_id):
            return []
        with self._database.reading() as transaction:
            rows = transaction.rows("continuations_of_session", session_id=session_id)
        return rules.oldest_first([rules.at(read_call(row), now) for row in rows])

    @in_thread
    def list_open(
        self, *, principal: str | None, now: datetime, cursor: str | None = None, limit: int
    ) -> Page[Waiting]:
        digest = None if principal is None else rules.principal_digest(principal)

        def read(row: Row) -> Waiting | None:
            waiting = read_call(row)
            return None if waiting.is_due(now) else waiting

        with self._database.reading() as transaction:

            def fetch(before: str, limit: int) -> list[Row]:
                return transaction.rows("open_continuations", before=before, principal=digest, limit=limit)

            page = list_rows(rules.OPEN, fetch, read, start=LAST, cursor=cursor, limit=limit)
        return rules.by_token(page)

    @in_thread
    def list_all(self, *, cursor: str | None = None, limit: int) -> Page[Waiting]:
        with self._database.reading() as transaction:

            def fetch(after: str, limit: int) -> list[Row]:
                return transaction.rows("all_continuations", after=after, limit=limit)

            return list_rows(rules.ALL, fetch, lambda row: read_call(row[1:]), start=FIRST, cursor=cursor, limit=limit)

    @in_thread
    def restore(self, waiting: Waiting) -> None:
        rules.require_storable(waiting.continuation)
        columns = call_columns(waiting)
        with self._database.writing() as transaction:
            if not transaction.change("insert_continuation", **columns):
                raise rules.taken(waiting.token)

    @in_thread
    def delete_of(self, session_id: str) -> None:
        if is_id(session_id):
            with self._database.writing() as transaction:
                transaction.change("delete_continuations_of_session", session_id=session_id)

    def _open_ones(self, transaction: Transaction, tokens: list[str], now: datetime) -> Iterator[Waiting]:
        marks = (_marks(transaction, tokens[first : first + AT_ONCE]) for first in range(0, len(tokens), AT_ONCE))
        for token, mark in chain.from_iterable(marks):
            with suppress(StateError):
                if self._seen.state(token, mark, now) in {None, "open"}:
                    waiting = self._looked_at(transaction, token, mark)
                    if waiting is not None and rules.at(waiting, now).state == "open":
                        yield waiting

    def _looked_at(self, transaction: Transaction, token: str, mark: tuple[Value, ...]) -> Waiting | None:
        """Read a call, and remember how it is."""
        waiting = _find(transaction, token)
        if waiting is not None:
            self._seen.note(waiting, mark)
        return waiting

    def _change(self, token: str, change: Callable[[Waiting], tuple[T, Waiting]], unknown: T) -> T:
        """Change a call, and give the answer; `unknown` where there is no such call."""
        if not rules.is_token(token):
            return unknown
        with self._database.writing() as transaction:
            waiting = _locked(transaction, token)
            if waiting is None:
                return unknown
            answer, changed = change(waiting)
            _update(transaction, waiting, changed)
            return answer


class SqlCache:
    """Keeps each result in a row."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @property
    def threads(self) -> CapacityLimiter:
        return self._database.threads

    def faults(self) -> Iterator[Fault]:
        """Look at every cached result."""
        return soundness.result_faults(self._database)

    @in_thread
    def get(self, key: str) -> JsonValue:
        with self._database.reading() as transaction:
            row = transaction.row("cached_result", digest=rules.key_digest(key))
        try:
            return None if row is None else read_result(row).result
        except StateError as error:
            logger.warning("A cached result is left out: %s", error.message)
            return None

    @in_thread
    def put(self, key: str, result: JsonValue, *, now: datetime) -> None:
        columns = result_columns(CachedResult(key=key, result=result, created_at=now))
        with self._database.writing() as transaction:
            transaction.change("put_cached_result", **columns)

    @in_thread
    def prune(self, before: datetime) -> int:
        with self._database.writing() as transaction:
            return transaction.change("prune_cached_results", before=rules.milliseconds(before))

    @in_thread
    def list_all(self, *, cursor: str | None = None, limit: int) -> Page[CachedResult]:
        with self._database.reading() as transaction:

            def fetch(after: str, limit: int) -> list[Row]:
                return transaction.rows("all_cached_results", after=after, limit=limit)

            return list_rows(rules.CACHE, fetch, read_result, start=FIRST, cursor=cursor, limit=limit)


def _find(transaction: Transaction, token: str) -> Waiting | None:
    row = transaction.row("continuation", token=token) if rules.is_token(token) else None
    return None if row is None else read_call(row)


def _marks(transaction: Transaction, tokens: list[str]) -> list[tuple[str, tuple[Value, ...]]]:
    """Give those of the tokens that stand for a call, each with what changes when it ends or waits anew."""
    named = [token for token in tokens if rules.is_token(token)]
    if not named:
        return []
    rows = transaction.rows("states_of_continuations", tokens=dumps(named).decode())
    marks: dict[object, tuple[Value, ...]] = {row[0]: row[1:] for row in rows}
    return [(token, marks[token]) for token in named if token in marks]


def _locked(transaction: Transaction, token: str) -> Waiting | None:
    """Give a call that nobody else changes before this transaction ends."""
    return _find(transaction, token) if transaction.change("lock_continuation", token=token) else None


def _update(transaction: Transaction, earlier: Waiting, waiting: Waiting) -> None:
    if waiting is not earlier:
        columns = call_columns(waiting)
        kept = {name: columns[name] for name in ("token", "place", "state", "document")}
        transaction.change("update_continuation", **kept)
