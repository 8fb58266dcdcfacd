"""Everything that is wrong with the sessions of a home: each session, and the index.

A document that cannot be read ends a session: a repair takes it away, whole, because nobody can go on with it. Of one
that has its answer, or has failed, the record can still be shown, so it stays.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from wf_artifacts.errors import SessionNotFound
from wf_artifacts.sessions.files.folder import SessionFolder, SessionHead
from wf_artifacts.sessions.files.index import SessionIndex
from wf_artifacts.sessions.rules import ENDED
from wf_artifacts.storage.atomic import is_temporary
from wf_artifacts.storage.findings import MOVES_IT, MOVES_SESSION, Fault, Finding, LostAndFound, unreadable
from wf_artifacts.storage.home import Home
from wf_artifacts.storage.list_faults import index_faults, stray_faults
from wf_artifacts.storage.moments import Moment, settled_faults
from wf_core.errors import StateError
from wf_core.ids import SessionId, is_id

_OLD_LOCK: Final = ".lock"
"""By which versions without an index kept off those who clear up. It belongs to nothing by now, and is left alone."""


@dataclass(frozen=True, slots=True)
class SessionsExamination:
    """Looks at the sessions of a home."""

    home: Home
    folder: Path
    """Where the sessions are."""
    index: SessionIndex
    lost: LostAndFound

    def faults(self) -> Iterator[Fault]:
        """Give everything that is wrong. The index last: a session that is taken away leaves an entry behind."""
        if self.home.has(self.folder):
            yield from self._sessions()
            every = (SessionId(name) for name in self.home.folders(self.folder) if is_id(name))
            yield from index_faults(self.index, "sessions", every, lambda session_id: self._session(session_id).look())

    def _sessions(self) -> Iterator[Fault]:
        for name in self.home.folders(self.folder):
            if is_id(name):
                yield from self._faults_of(self._session(SessionId(name)))
            else:
                yield from stray_faults(self.home, self.index, self.folder / name, self.lost)
        for name in self.home.files(self.folder):
            if name != _OLD_LOCK:
                yield from stray_faults(self.home, self.index, self.folder / name, self.lost)

    def _faults_of(self, folder: SessionFolder) -> list[Fault]:
        """Give what is wrong with a session; nothing of one that moves on too fast to tell."""

        def take_away() -> None:
            with self.index.vanishing(folder.session_id):
                self.lost.move(folder.path)

        return settled_faults(folder, lambda moment: _Session(folder, moment, self.lost, take_away).faults())

    def _session(self, session_id: SessionId) -> SessionFolder:
        return SessionFolder(self.home, self.folder / session_id, session_id)


class _Session:
    """A session as it is at one moment."""

    def __init__(
        self, folder: SessionFolder, moment: Moment, lost: LostAndFound, take_away: Callable[[], None]
    ) -> None:
        """`take_away` moves the whole session to lost+found."""
        self._folder = folder
        self._lost = lost
        self._take_away = take_away
        self._moment = moment

    def faults(self) -> Iterator[Fault]:
        folder = self._folder
        try:
            head = folder.head()
        except SessionNotFound:
            if not self._moment.held:
                yield self._orphaned()
        except StateError as error:
            yield self._unreadable(folder.head_path, error, ended=False)
        else:
            yield from self._unreadable_documents(head)
            if not self._moment.held:
                yield from self._surplus()
                yield from self._unstored(head)

    def _unreadable_documents(self, head: SessionHead) -> Iterator[Fault]:
        folder = self._folder
        needed: dict[Path, Callable[[SessionHead], object]] = {
            folder.header_path: folder.header,
            folder.events_path: folder.events,
        }
        for path, read in needed.items():
            try:
                read(head)
            except SessionNotFound:
                return
            except StateError as error:
                yield self._unreadable(path, error, ended=head.record.status in ENDED)

    def _surplus(self) -> Iterator[Fault]:
        """Look for files and folders that no session has."""
        folder = self._folder
        named = {folder.head_path, folder.header_path, folder.events_path, folder.lock}
        for name in (*folder.home.files(folder.path), *folder.home.folders(folder.path)):
            if folder.path / name not in named:
                yield self._stray(folder.path / name, "leftover" if is_temporary(name) else "unknown")

    def _unstored(self, head: SessionHead) -> Iterator[Fault]:
        """Look for what stands behind the events that count."""
        folder = self._folder
        surplus = folder.home.size(folder.events_path) - head.events_bytes

        def cut() -> None:
            self._lost.cut(folder.events_path, at=head.events_bytes)

        if surplus > 0:
            problem = f"A crash left {surplus} bytes at its end that do not count."
            document = folder.home.document(folder.events_path)
            finding = Finding(document, "leftover", problem, "Moves these bytes to lost+found.")
            yield Fault(finding, self._moment.mending(cut))

    def _unreadable(self, path: Path, error: StateError, *, ended: bool) -> Fault:
        document = self._folder.home.document(path)
        if ended:
            return unreadable(document, error)
        return unreadable(document, error, MOVES_SESSION, self._moving_all())

    def _orphaned(self) -> Fault:
        document = self._folder.home.document(self._folder.path)
        finding = Finding(document, "orphaned", "It has no session.json, so it is no session.", MOVES_IT)
        return Fault(finding, self._moving_all())

    def _stray(self, path: Path, kind: Literal["leftover", "unknown"]) -> Fault:
        problem = "A crash left it; it does not count." if kind == "leftover" else "It belongs to no session."
        finding = Finding(self._folder.home.document(path), kind, problem, MOVES_IT)
        return Fault(finding, self._moment.mending(lambda: self._lost.move(path)))

    def _moving_all(self) -> Callable[[], None]:
        return self._moment.mending(self._take_away)
