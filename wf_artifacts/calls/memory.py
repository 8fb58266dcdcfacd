"""Continuations and cached results of one process, gone when it ends. The simplest stores that keep the contracts.

Records are kept as the documents that other backends store, so a value that is changed after it was stored, or after it
was loaded, changes nothing here, and what is no JSON is refused here too.
"""

from collections.abc import Iterable
from datetime import datetime
from itertools import islice

from wf_artifacts.calls import rules
from wf_artifacts.calls.models import (
    CACHED,
    WAITING,
    CachedResult,
    Continuation,
    Delivery,
    DeliveryAnswer,
    Waiting,
)
from wf_artifacts.storage.pages import Page, ascending, collect, descending
from wf_core.jsonvalue import JsonValue


class MemoryContinuations:
    """Keeps continuations in a dictionary."""

    def __init__(self) -> None:
        self._waiting: dict[str, bytes] = {}

    async def put(self, continuation: Continuation) -> Waiting:
        rules.require_storable(continuation)
        earlier = self._find(continuation.token)
        stored = rules.putting(earlier, continuation)
        self._store(earlier, stored)
        return stored

    async def load(self, token: str, *, principal: str | None, now: datetime) -> Waiting:
        return rules.at(rules.require_found(self._find(token), token, principal), now)

    async def deliver(self, token: str, delivery: Delivery, *, principal: str | None, now: datetime) -> DeliveryAnswer:
        waiting = self._find(token)
        if waiting is None:
            return "unknown"
        answer, changed = rules.delivering(waiting, delivery, principal, now)
        self._store(waiting, changed)
        return answer

    async def close(self, token: str, *, now: datetime) -> bool:
        waiting = self._find(token)
        if waiting is None:
            return False
        closed, changed = rules.closing(waiting, now)
        self._store(waiting, changed)
        return closed

    async def deliveries(self, tokens: Iterable[str], *, now: datetime) -> list[Waiting]:
        found: list[Waiting] = []
        for token in tokens:
            waiting = self._find(token)
            if waiting is not None:
                told = rules.at(waiting, now)
                self._store(waiting, told)
                if told.state in rules.TOLD:
                    found.append(told)
        return found

    async def first_open(self, tokens: Iterable[str], *, now: datetime, limit: int) -> list[Waiting]:
        found = (rules.at(waiting, now) for token in tokens if (waiting := self._find(token)) is not None)
        return list(islice((waiting for waiting in found if waiting.state == "open"), limit))

    async def of_session(self, session_id: str, *, now: datetime) -> list[Waiting]:
        return rules.oldest_first([rules.at(waiting, now) for waiting in self._of(session_id)])

    async def list_open(
        self, *, principal: str | None, now: datetime, cursor: str | None = None, limit: int
    ) -> Page[Waiting]:
        places = {rules.place_of(waiting.continuation): waiting for waiting in map(self._read, self._waiting)}

        def read(place: str) -> Waiting | None:
            waiting = rules.at(places[place], now)
            return waiting if waiting.state == "open" and rules.belongs(waiting, principal) else None

        return collect(rules.OPEN, descending(rules.OPEN, places, cursor), read, limit)

    async def list_all(self, *, cursor: str | None = None, limit: int) -> Page[Waiting]:
        return collect(rules.ALL, ascending(rules.ALL, self._waiting, cursor), self._read, limit)

    async def restore(self, waiting: Waiting) -> None:
        rules.require_storable(waiting.continuation)
        if waiting.token in self._waiting:
            raise rules.taken(waiting.token)
        self._store(None, waiting)

    async def delete_of(self, session_id: str) -> None:
        for waiting in self._of(session_id):
            del self._waiting[waiting.token]

    def _find(self, token: str) -> Waiting | None:
        return self._read(token) if token in self._waiting else None

    def _read(self, token: str) -> Waiting:
        return WAITING.decode(self._waiting[token], token)

    def _store(self, earlier: Waiting | None, waiting: Waiting) -> None:
        if waiting is not earlier:
            self._waiting[waiting.token] = WAITING.encode(waiting)

    def _of(self, session_id: str) -> list[Waiting]:
        found = map(self._read, self._waiting)
        return [waiting for waiting in found if waiting.continuation.session_id == session_id]


class MemoryCache:
    """Keeps results in a dictionary."""

    def __init__(self) -> None:
        self._results: dict[str, bytes] = {}

    async def get(self, key: str) -> JsonValue:
        digest = rules.key_digest(key)
        return self._read(digest).result if digest in self._results else None

    async def put(self, key: str, result: JsonValue, *, now: datetime) -> None:
        entry = CachedResult(key=key, result=result, created_at=now)
        self._results[rules.key_digest(key)] = CACHED.encode(entry)

    async def prune(self, before: datetime) -> int:
        old = [digest for digest in self._results if self._read(digest).created_at < before]
        for digest in old:
            del self._results[digest]
        return len(old)

    async def list_all(self, *, cursor: str | None = None, limit: int) -> Page[CachedResult]:
        return collect(rules.CACHE, ascending(rules.CACHE, self._results, cursor), self._read, limit)

    def _read(self, digest: str) -> CachedResult:
        return CACHED.decode(self._results[digest], digest)
