"""Waiting calls and cached results as files, shared by every process that opens the home. Where is in `files.tree`."""

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from itertools import islice
from typing import TypeVar

from wf_artifacts.calls import rules
from wf_artifacts.calls.files.examination import CacheExamination, CallsExamination
from wf_artifacts.calls.files.tree import CacheTree, CallsTree
from wf_artifacts.calls.models import (
    CACHED,
    CachedResult,
    Continuation,
    Delivery,
    DeliveryAnswer,
    Waiting,
    WaitingState,
)
from wf_artifacts.calls.seen import Seen
from wf_artifacts.storage import atomic
from wf_artifacts.storage.findings import Fault, LostAndFound
from wf_artifacts.storage.home import FileTreeStore, Home, in_home
from wf_artifacts.storage.pages import Page, ascending, collect, descending
from wf_core.errors import StateCorrupt, StateError
from wf_core.jsonvalue import JsonValue

T = TypeVar("T")

logger = logging.getLogger(__name__)


class FileTreeContinuations(FileTreeStore):
    """Keeps each continuation in a file, with what became of it."""

    def __init__(self, home: Home) -> None:
        super().__init__(home)
        self._tree = CallsTree(home)
        self._seen = Seen()

    @in_home
    def put(self, continuation: Continuation) -> Waiting:
        rules.require_storable(continuation)
        with self._tree.changing(continuation.token):
            earlier = self._tree.waiting(continuation.token)
            stored = rules.putting(earlier, continuation)
            self._store(earlier, stored)
            return stored

    @in_home
    def load(self, token: str, *, principal: str | None, now: datetime) -> Waiting:
        return rules.at(rules.require_found(self._find(token), token, principal), now)

    @in_home
    def deliver(self, token: str, delivery: Delivery, *, principal: str | None, now: datetime) -> DeliveryAnswer:
        def change(waiting: Waiting) -> tuple[DeliveryAnswer, Waiting]:
            return rules.delivering(waiting, delivery, principal, now)

        return self._change(token, change, "unknown")

    @in_home
    def close(self, token: str, *, now: datetime) -> bool:
        return self._change(token, lambda waiting: rules.closing(waiting, now), False)

    @in_home
    def deliveries(self, tokens: Iterable[str], *, now: datetime) -> list[Waiting]:
        found: list[Waiting] = []
        for token in tokens:
            with suppress(StateError):
                if self._seen_state(token, now) == "open":
                    continue
                waiting = self._looked_at(token)
                if waiting is not None and waiting.is_due(now):
                    waiting = self._change(token, lambda found: rules.expiring(found, now), None)
                if waiting is not None and waiting.state in rules.TOLD:
                    found.append(waiting)
        return found

    @in_home
    def first_open(self, tokens: Iterable[str], *, now: datetime, limit: int) -> list[Waiting]:
        return list(islice(self._open_ones(tokens, now), limit))

    @in_home
    def of_session(self, session_id: str, *, now: datetime) -> list[Waiting]:
        found: list[Waiting] = []
        for token in self._tree.tokens_of(session_id):
            waiting = self._tree.waiting(token)
            if waiting is not None and waiting.continuation.session_id == session_id:
                found.append(rules.at(waiting, now))
            else:
                self._tree.settle(self._tree.session_marks / session_id / token, token)
        return rules.oldest_first(found)

    @in_home
    def list_open(
        self, *, principal: str | None, now: datetime, cursor: str | None = None, limit: int
    ) -> Page[Waiting]:
        marks = {mark.name: mark for mark in self._tree.places(principal)}

        def read(place: str) -> Waiting | None:
            token = rules.token_at(place)
            waiting = self._tree.waiting(token)
            if waiting is None or waiting.state != "open" or marks[place] != self._tree.open_mark(waiting.continuation):
                self._tree.settle(marks[place], token)
                return None
            return None if waiting.is_due(now) else waiting

        return rules.by_token(collect(rules.OPEN, descending(rules.OPEN, marks, cursor), read, limit))

    @in_home
    def list_all(self, *, cursor: str | None = None, limit: int) -> Page[Waiting]:
        return collect(rules.ALL, ascending(rules.ALL, self._tree.tokens(), cursor), self._tree.waiting, limit)

    @in_home
    def restore(self, waiting: Waiting) -> None:
        rules.require_storable(waiting.continuation)
        with self._tree.changing(waiting.token):
            if self.home.has(self._tree.path(waiting.token)):
                raise rules.taken(waiting.token)
            self._tree.store(waiting)

    @in_home
    def delete_of(self, session_id: str) -> None:
        for token in self._tree.tokens_of(session_id):
            self._delete(session_id, token)
        with suppress(OSError):
            # Somebody may put another call just now.
            (self._tree.session_marks / session_id).rmdir()

    def faults(self) -> Iterator[Fault]:
        """Look at every waiting call."""
        return CallsExamination(self._tree, LostAndFound(self.home)).faults()

    def _find(self, token: str) -> Waiting | None:
        return self._tree.waiting(token) if rules.is_token(token) else None

    def _open_ones(self, tokens: Iterable[str], now: datetime) -> Iterator[Waiting]:
        for token in tokens:
            with suppress(StateError):
                if self._seen_state(token, now) in {None, "open"}:
                    waiting = self._looked_at(token)
                    if waiting is not None and rules.at(waiting, now).state == "open":
                        yield waiting

    def _seen_state(self, token: str, now: datetime) -> WaitingState | None:
        """Give the state of a call that is as it was when it was looked at last; None where it has to be read."""
        mark = self._tree.mark_of(token) if rules.is_token(token) else None
        return None if mark is None else self._seen.state(token, mark, now)

    def _looked_at(self, token: str) -> Waiting | None:
        """Read a call, and remember how it is under the mark of before: what is stored meanwhile is read again."""
        mark = self._tree.mark_of(token) if rules.is_token(token) else None
        waiting = None if mark is None else self._tree.waiting(token)
        if waiting is not None:
            self._seen.note(waiting, mark)
        return waiting

    def _change(self, token: str, change: Callable[[Waiting], tuple[T, Waiting]], unknown: T) -> T:
        """Change a call, and give the answer; `unknown` where there is no such call."""
        if not rules.is_token(token) or not self.home.has(self._tree.path(token)):
            return unknown
        with self._tree.changing(token):
            waiting = self._tree.waiting(token)
            if waiting is None:
                return unknown
            answer, changed = change(waiting)
            self._store(waiting, changed)
            return answer

    def _store(self, earlier: Waiting | None, waiting: Waiting) -> None:
        if waiting is not earlier:
            self._tree.store(waiting)

    def _delete(self, session_id: str, token: str) -> None:
        tree = self._tree
        mark = tree.session_marks / session_id / token
        with tree.changing(token):
            waiting = None
            try:
                waiting = tree.waiting(token)
            except StateError:
                atomic.remove_file(tree.path(token))
            if waiting is not None and waiting.continuation.session_id == session_id:
                tree.remove(waiting)
            else:
                atomic.unlink(mark)


class FileTreeCache(FileTreeStore):
    """Keeps each result in a file."""

    def __init__(self, home: Home) -> None:
        super().__init__(home)
        self._tree = CacheTree(home)

    @in_home
    def get(self, key: str) -> JsonValue:
        try:
            found = self._tree.result(rules.key_digest(key))
        except StateError as error:
            logger.warning("A cached result is left out: %s", error.message)
            return None
        return None if found is None else found.result

    @in_home
    def put(self, key: str, result: JsonValue, *, now: datetime) -> None:
        data = CACHED.encode(CachedResult(key=key, result=result, created_at=now))
        digest = rules.key_digest(key)
        with self._tree.changing(digest):
            atomic.replace_file(self._tree.path(digest), data)

    @in_home
    def prune(self, before: datetime) -> int:
        return sum(self._prune(shard, before) for shard in self._tree.shards())

    @in_home
    def list_all(self, *, cursor: str | None = None, limit: int) -> Page[CachedResult]:
        digests = (digest for shard in self._tree.shards() for digest in self._tree.digests(shard))
        return collect(rules.CACHE, ascending(rules.CACHE, digests, cursor), self._tree.result, limit)

    def faults(self) -> Iterator[Fault]:
        """Look at every cached result."""
        return CacheExamination(self._tree, LostAndFound(self.home)).faults()

    def _prune(self, shard: str, before: datetime) -> int:
        with self._tree.changing(shard):
            old = [digest for digest in self._tree.digests(shard) if self._is_old(digest, before)]
            for digest in old:
                atomic.unlink(self._tree.path(digest))
            return len(old)

    def _is_old(self, digest: str, before: datetime) -> bool:
        try:
            found = self._tree.result(digest)
        except StateCorrupt:
            return True
        except StateError:
            return False
        return found is not None and found.created_at < before
