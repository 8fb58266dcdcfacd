"""Waiting calls and cached results on disk, for reading, and the marks that lead to them.

calls/3f/call_….json                       a continuation, and what became of it: one file, so one step; by a digest
calls/3f/.lock                             held while one of these changes
calls/open/<principal>/<place>             an empty file: this call may be open
calls/of/<session_id>/call_…               an empty file: this call may belong to the session
cache/3f/3f….json                          a result, by the digest of its key
cache/3f/.lock

A mark is made before its call and taken away after it, so there may be too many, never too few: whoever reads one looks
at the call itself.
"""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager
from hashlib import sha256
from pathlib import Path
from typing import Final

from wf_artifacts.calls.models import CACHED, WAITING, CachedResult, Continuation, Waiting
from wf_artifacts.calls.rules import is_place, is_token, key_digest, place_of, principal_digest
from wf_artifacts.storage import atomic
from wf_artifacts.storage.documents import corrupt
from wf_artifacts.storage.home import Home
from wf_core.ids import is_id

LOCK: Final = ".lock"
_SUFFIX: Final = ".json"
_HEX: Final = frozenset("0123456789abcdef")


def is_shard(name: str) -> bool:
    """Tell whether a folder of this name holds files by their digest."""
    return len(name) == 2 and _HEX.issuperset(name)


def _shard(token: str) -> str:
    return sha256(token.encode()).hexdigest()[:2]


class CallsTree:
    """Where every waiting call is. A token that is passed has passed `is_token`."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.root = home.room("calls")
        self._root_text = str(self.root)
        self.open_marks = self.root / "open"
        self.session_marks = self.root / "of"

    def path(self, token: str) -> Path:
        return self.root / _shard(token) / f"{token}{_SUFFIX}"

    def lock(self, token: str) -> Path:
        return self.path(token).with_name(LOCK)

    def changing(self, token: str) -> AbstractContextManager[None]:
        """Change a call while nobody else does."""
        return self.home.changing(self.path(token).parent, lock=self.lock(token))

    def waiting(self, token: str) -> Waiting | None:
        """Read a call, or give None where there is none."""
        return self.home.load(self.path(token), WAITING, token=token)

    def mark_of(self, token: str) -> tuple[int, ...] | None:
        """Give what changes whenever a call is stored, without reading it; None where there is none."""
        try:
            found = os.stat(f"{self._root_text}/{_shard(token)}/{token}{_SUFFIX}")  # noqa: PTH116  # a Path is slow to make
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self.home.refusal(self.path(token), error) from error
        return found.st_ino, found.st_mtime_ns, found.st_ctime_ns, found.st_size

    def store(self, waiting: Waiting) -> None:
        """Write a call, its marks first. Only while it is being changed."""
        data = WAITING.encode(waiting)
        if waiting.state == "open" or not self.home.has(self.path(waiting.token)):
            self.mark(waiting)
        atomic.replace_file(self.path(waiting.token), data)
        if waiting.state != "open":
            atomic.unlink(self.open_mark(waiting.continuation))

    def remove(self, waiting: Waiting) -> None:
        """Remove a call, its marks last. Only while it is being changed."""
        atomic.remove_file(self.path(waiting.token))
        atomic.unlink(self.open_mark(waiting.continuation))
        atomic.unlink(self.session_mark(waiting.continuation))

    def mark(self, waiting: Waiting) -> None:
        """Let lists lead to a call."""
        marks = [self.session_mark(waiting.continuation)]
        if waiting.state == "open":
            marks.append(self.open_mark(waiting.continuation))
        for mark in marks:
            atomic.make_folder(mark.parent)
            atomic.make_mark(mark)

    def open_mark(self, continuation: Continuation) -> Path:
        return self.open_folder(continuation.principal) / place_of(continuation)

    def open_folder(self, principal: str) -> Path:
        return self.open_marks / principal_digest(principal).hex()[:32]

    def session_mark(self, continuation: Continuation) -> Path:
        return self.session_marks / continuation.session_id / continuation.token

    def places(self, principal: str | None) -> Iterator[Path]:
        """Give the marks of calls that may be open."""
        folders = [self.open_folder(principal)] if principal is not None else self._folders(self.open_marks)
        for folder in folders:
            for name in self.home.files(folder):
                if is_place(name):
                    yield folder / name

    def tokens_of(self, session_id: str) -> list[str]:
        """Give the calls that may belong to a session, whose id may be any text."""
        names = self.home.files(self.session_marks / session_id) if is_id(session_id) else []
        return [name for name in names if is_token(name)]

    def tokens(self) -> Iterator[str]:
        """Give every call, in no order."""
        for shard in self._folders(self.root):
            if is_shard(shard.name):
                for name in self.home.files(shard):
                    token = name.removesuffix(_SUFFIX)
                    if is_token(token) and self.path(token) == shard / name:
                        yield token

    def has_owner(self, continuation: Continuation) -> bool:
        """Tell whether there is the session, or the run, that a call belongs to."""
        rooms = (self.home.root / room for room in ("sessions", "runs"))
        return any(self.home.has(room / continuation.session_id) for room in rooms)

    def settle(self, mark: Path, token: str) -> None:
        """Take a mark away whose call is gone, or open no longer; nothing is done where that is no longer so."""
        with self.changing(token):
            if not self.is_right(mark, token):
                atomic.unlink(mark)

    def is_right(self, mark: Path, token: str) -> bool:
        """Tell whether a mark leads to what it says. A call that cannot be read may be that."""
        waiting = self.waiting(token)
        if waiting is None:
            return False
        if mark == self.session_mark(waiting.continuation):
            return True
        return waiting.state == "open" and mark == self.open_mark(waiting.continuation)

    def _folders(self, folder: Path) -> list[Path]:
        return [folder / name for name in self.home.folders(folder)]


class CacheTree:
    """Where every cached result is, by the digest of its key."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.root = home.root / "cache"

    def path(self, digest: str) -> Path:
        return self.root / digest[:2] / f"{digest}{_SUFFIX}"

    def changing(self, digest: str) -> AbstractContextManager[None]:
        """Change the results whose digests begin as this one does, while nobody else does."""
        folder = self.path(digest).parent
        return self.home.changing(folder, lock=folder / LOCK)

    def result(self, digest: str) -> CachedResult | None:
        """Read a result, or give None where there is none."""
        path = self.path(digest)
        found = self.home.load(path, CACHED)
        if found is not None and key_digest(found.key) != digest:
            raise corrupt(self.home.document(path), "it is the file of another key")
        return found

    def shards(self) -> list[str]:
        return [name for name in self.home.folders(self.root) if is_shard(name)]

    def digests(self, shard: str) -> list[str]:
        """Give the results in a shard, in no order."""
        names = self.home.files(self.root / shard)
        found = (name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX))
        return [digest for digest in found if len(digest) == 64 and _HEX.issuperset(digest) and digest[:2] == shard]
