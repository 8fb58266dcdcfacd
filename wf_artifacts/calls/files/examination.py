"""Everything that is wrong with the waiting calls and the cached results of a home."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from wf_artifacts.calls.files.tree import LOCK, CacheTree, CallsTree, is_shard
from wf_artifacts.calls.models import Waiting
from wf_artifacts.calls.rules import is_place, is_token, token_at
from wf_artifacts.storage import atomic
from wf_artifacts.storage.findings import MOVES_IT, Fault, Finding, LostAndFound, confirmed, stray, unreadable
from wf_core.errors import StateError


@dataclass(frozen=True, slots=True)
class CallsExamination:
    """Looks at waiting calls and their marks. Nobody changes a call while it is looked at or repaired."""

    tree: CallsTree
    lost: LostAndFound

    def faults(self) -> Iterator[Fault]:
        """Give everything that is wrong; calls first, because a repair of one may leave marks behind."""
        home, tree = self.tree.home, self.tree
        marks = {tree.open_marks, tree.session_marks}
        for name in home.folders(tree.root):
            if is_shard(name):
                yield from self._shard(tree.root / name)
            elif tree.root / name not in marks:
                yield from _stray(tree, self.lost, tree.root / name, tree.root / LOCK)
        for name in home.files(tree.root):
            if name != LOCK:
                yield from _stray(tree, self.lost, tree.root / name, tree.root / LOCK)
        for folder in marks:
            yield from self._marks(folder)

    def _shard(self, folder: Path) -> Iterator[Fault]:
        home = self.tree.home
        for name in (*home.files(folder), *home.folders(folder)):
            token = name.removesuffix(".json")
            if is_token(token) and self.tree.path(token) == folder / name:
                yield from confirmed(lambda token=token: self._judge(token), self.tree.lock(token))
            elif name != LOCK:
                yield from _stray(self.tree, self.lost, folder / name, folder / LOCK)

    def _judge(self, token: str) -> Fault | None:
        path = self.tree.path(token)
        document = self.tree.home.document(path)
        try:
            waiting = self.tree.waiting(token)
        except StateError as error:
            return unreadable(document, error, MOVES_IT, lambda: self.lost.move(path))
        if waiting is None:
            return None
        if not self.tree.has_owner(waiting.continuation):
            problem = f"It belongs to {waiting.continuation.session_id}, which is gone."
            finding = Finding(document, "leftover", problem, MOVES_IT)
            return Fault(finding, lambda: self._take_away(waiting))
        if self._lacks_mark(waiting):
            finding = Finding(document, "damaged", "Lists leave it out.", "Enters it in the lists again.")
            return Fault(finding, lambda: self.tree.mark(waiting))
        return None

    def _lacks_mark(self, waiting: Waiting) -> bool:
        home, continuation = self.tree.home, waiting.continuation
        listed = waiting.state != "open" or home.has(self.tree.open_mark(continuation))
        return not (listed and home.has(self.tree.session_mark(continuation)))

    def _take_away(self, waiting: Waiting) -> None:
        self.lost.move(self.tree.path(waiting.token))
        atomic.unlink(self.tree.open_mark(waiting.continuation))
        atomic.unlink(self.tree.session_mark(waiting.continuation))

    def _marks(self, folder: Path) -> Iterator[Fault]:
        home = self.tree.home
        for name in home.files(folder):
            yield from _stray(self.tree, self.lost, folder / name, self.tree.root / LOCK)
        for name in home.folders(folder):
            for mark in (*home.files(folder / name), *home.folders(folder / name)):
                yield from self._mark(folder / name / mark)

    def _mark(self, mark: Path) -> Iterator[Fault]:
        token = token_at(mark.name) if is_place(mark.name) else mark.name
        if is_token(token):
            yield from confirmed(lambda: self._judge_mark(mark, token), self.tree.lock(token))
        else:
            yield from _stray(self.tree, self.lost, mark, self.tree.root / LOCK)

    def _judge_mark(self, mark: Path, token: str) -> Fault | None:
        try:
            right = self.tree.is_right(mark, token)
        except StateError:
            return None  # The call is a fault of its own.
        if right or not self.tree.home.has(mark):
            return None
        finding = Finding(
            self.tree.home.document(mark), "leftover", "It leads to no call that is as it says.", MOVES_IT
        )
        return Fault(finding, lambda: self.lost.move(mark))


@dataclass(frozen=True, slots=True)
class CacheExamination:
    """Looks at cached results."""

    tree: CacheTree
    lost: LostAndFound

    def faults(self) -> Iterator[Fault]:
        """Give everything that is wrong."""
        home, root = self.tree.home, self.tree.root
        for name in home.folders(root):
            if is_shard(name):
                yield from self._shard(name)
            else:
                yield from _stray(self.tree, self.lost, root / name, root / LOCK)
        for name in home.files(root):
            if name != LOCK:
                yield from _stray(self.tree, self.lost, root / name, root / LOCK)

    def _shard(self, shard: str) -> Iterator[Fault]:
        folder = self.tree.root / shard
        digests = set(self.tree.digests(shard))
        for digest in digests:
            yield from confirmed(lambda digest=digest: self._judge(digest), folder / LOCK)
        ours = {LOCK, *(self.tree.path(digest).name for digest in digests)}
        for name in (*self.tree.home.files(folder), *self.tree.home.folders(folder)):
            if name not in ours:
                yield from _stray(self.tree, self.lost, folder / name, folder / LOCK)

    def _judge(self, digest: str) -> Fault | None:
        path = self.tree.path(digest)
        try:
            self.tree.result(digest)
        except StateError as error:
            document = self.tree.home.document(path)
            return unreadable(document, error, MOVES_IT, lambda: self.lost.move(path))
        return None


def _stray(tree: CallsTree | CacheTree, lost: LostAndFound, path: Path, lock: Path) -> Iterator[Fault]:
    """Report what is none of ours, or was being made when a crash came."""

    def judge() -> Fault | None:
        return stray(tree.home.document(path), path, lost) if tree.home.has(path) else None

    yield from confirmed(judge, lock)
