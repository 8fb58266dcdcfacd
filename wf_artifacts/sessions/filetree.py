"""The sessions as files, shared by every process that opens the home.

sessions/<session_id>/         see `files.folder`
sessions/.<session_id>.tmp     a session that is being made or removed, or that a crash left so; a list removes those
index/sessions/                see `files.index`
"""

import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice

from wf_artifacts.errors import SessionBusy, SessionClaimLost, SessionExists, SessionNotFound
from wf_artifacts.sessions.files.events import event_lines
from wf_artifacts.sessions.files.examination import SessionsExamination
from wf_artifacts.sessions.files.folder import (
    LOCK,
    SESSION_HEAD,
    Found,
    Holder,
    SessionFolder,
    SessionHead,
)
from wf_artifacts.sessions.files.index import SessionIndex
from wf_artifacts.sessions.models import SessionRecord, SessionStatus, StoredSession
from wf_artifacts.sessions.rules import COMPARED_SESSIONS, SESSIONS, belongs, require_first_state
from wf_artifacts.sessions.store import SessionClaim
from wf_artifacts.storage import atomic
from wf_artifacts.storage.claims import Releasable
from wf_artifacts.storage.digests import bytes_digest
from wf_artifacts.storage.findings import Fault, LostAndFound
from wf_artifacts.storage.home import FileTreeStore, Home, in_home
from wf_artifacts.storage.leftovers import remove_leftover, whole
from wf_artifacts.storage.locks import FileLock, try_lock
from wf_artifacts.storage.pages import Page, collect, read_cursor
from wf_core.errors import StateError
from wf_core.ids import SessionId, close_matches, is_id


class FileClaim(Releasable):
    """The lock over a session's folder, and what is stored next while it is held."""

    def __init__(self, session_id: SessionId, lock: FileLock, holder: Holder) -> None:
        self.session_id = session_id
        self._lock = lock
        self._holder = holder
        self._writing = threading.Lock()

    def store(self, record: SessionRecord, events: Sequence[bytes]) -> None:
        with self._writing:
            if not self._lock.held:
                raise SessionClaimLost(self.session_id)
            self._holder.store(record, events)

    async def release(self) -> None:
        # A caller that was torn away from its store may get here before the thread that writes is done.
        with self._writing:
            self._lock.release()


class FileTreeSessions(FileTreeStore):
    """Keeps each session in a folder of its own."""

    def __init__(self, home: Home) -> None:
        super().__init__(home)
        self._sessions = home.room("sessions")
        self._index = SessionIndex(home, self._survey)

    @in_home
    def create(self, record: SessionRecord, header: bytes, events: Sequence[bytes] = ()) -> SessionClaim:
        require_first_state(record, events)
        folder = self._folder(record.session_id)
        made = SessionFolder(self.home, atomic.temporary(folder.path), record.session_id)
        lines = event_lines(events, since=0)
        head = SessionHead(record=record, header_digest=bytes_digest(header), events_bytes=len(lines))
        files = {made.header_path: header, made.events_path: lines, made.head_path: SESSION_HEAD.encode(head)}
        with self._index.becoming(record), self.home.translated(folder.path):
            lock = self._make_locked(made)
            try:
                if folder.exists():
                    raise SessionExists(record.session_id)
                for path, data in files.items():
                    atomic.write_file(path, data)
                atomic.publish_folder(made.path, folder.path)
            except BaseException:
                with suppress(OSError):
                    atomic.remove_folder(made.path, last=LOCK)
                lock.release()
                raise
        return FileClaim(record.session_id, lock, Holder(folder, self._index.becoming, head))

    @in_home
    def claim(self, session_id: SessionId) -> SessionClaim:
        with self._close_ids(session_id):
            folder = self._folder(session_id)
            lock = self._lock(folder)
            try:
                holder = Holder(folder, self._index.becoming)
                holder.tidy()
                return FileClaim(session_id, lock, holder)
            except BaseException:
                lock.release()
                raise

    @in_home
    def is_claimed(self, session_id: SessionId) -> bool:
        with self._close_ids(session_id):
            folder = self._folder(session_id)
            if not folder.exists():
                raise SessionNotFound(session_id)
            return self.home.is_locked(folder.lock)

    @in_home
    def store(
        self,
        claim: SessionClaim,
        record: SessionRecord,
        events: Sequence[bytes] = (),
        *,
        sync: bool = True,  # noqa: ARG002  # session.json must never be on disk before the events that it counts
    ) -> None:
        if not isinstance(claim, FileClaim):
            raise SessionClaimLost(claim.session_id)
        claim.store(record, events)

    @in_home
    def load(self, session_id: SessionId, *, principal: str | None = None) -> StoredSession:
        with self._close_ids(session_id, principal):
            stored = self._folder(session_id).load()
            if not belongs(stored.record, principal):
                raise SessionNotFound(session_id)
            return stored

    @in_home
    def load_record(self, session_id: SessionId, *, principal: str | None = None) -> SessionRecord:
        with self._close_ids(session_id, principal):
            record = self._folder(session_id).head().record
            if not belongs(record, principal):
                raise SessionNotFound(session_id)
            return record

    @in_home
    def list_sessions(
        self,
        *,
        principal: str | None,
        status: SessionStatus | None = None,
        cursor: str | None = None,
        limit: int,
    ) -> Page[SessionRecord]:
        def read(session_id: SessionId) -> SessionRecord | None:
            with suppress(SessionNotFound):
                record = self._folder(session_id).head().record
                return record if belongs(record, principal, status) else None

        below = None if cursor is None else SessionId(read_cursor(SESSIONS, cursor))
        return collect(SESSIONS, self._newest(principal=principal, status=status, below=below), read, limit)

    @in_home
    def abandoned(self) -> list[SessionId]:
        def is_abandoned(session_id: SessionId) -> bool:
            with suppress(SessionNotFound, StateError):
                folder = self._folder(session_id)
                return folder.head().record.status == "running" and not self.home.is_locked(folder.lock)
            return False

        return list(filter(is_abandoned, self._newest(status="running")))

    @in_home
    def delete(self, session_id: SessionId, *, found: SessionRecord | None = None) -> None:
        with self._close_ids(session_id):
            folder = self._folder(session_id)
            if not folder.exists():
                raise SessionNotFound(session_id)
            lock = self._lock(folder)
            try:
                if found is not None and folder.head().record != found:
                    raise SessionBusy(session_id)
                with self._index.vanishing(session_id), self.home.translated(folder.path):
                    remove_leftover(atomic.temporary(folder.path), lock=LOCK)
                    atomic.remove_folder(atomic.retire_folder(folder.path), last=LOCK)
            finally:
                lock.release()

    def faults(self) -> Iterator[Fault]:
        """Look at everything that is kept of sessions."""
        return SessionsExamination(self.home, self._sessions, self._index, LostAndFound(self.home)).faults()

    def close(self) -> None:
        """Close what is open. Claims are released by whoever took them."""
        self._index.close()

    def _newest(
        self, *, principal: str | None = None, status: SessionStatus | None = None, below: SessionId | None = None
    ) -> Iterator[SessionId]:
        """Give the sessions that may be meant, the newest first. What a crash left unfinished is cleared up before."""
        if not self.home.has(self._sessions):
            return iter(())
        self._index.settle(self._clear_up)
        return self._index.newest(principal=principal, status=status, below=below)

    def _clear_up(self, session_id: SessionId) -> Found:
        """Finish what was begun with a session, and tell what it is by now. One under way its next holder sees to."""
        folder = self._folder(session_id)
        with self.home.translated(folder.path):
            remove_leftover(atomic.temporary(folder.path), lock=LOCK)
        found = folder.look()
        if isinstance(found, SessionRecord) and found.status == "running":
            return found
        with suppress(SessionNotFound, SessionBusy, StateError):
            lock = self._lock(folder)
            try:
                Holder(folder, self._index.becoming).tidy()
            finally:
                lock.release()
        return folder.look()

    def _survey(self) -> Iterator[tuple[SessionId, Found]]:
        """Look at every session. What a crash left is removed."""
        for name in whole(self._sessions, self.home.folders(self._sessions), lock=LOCK):
            yield SessionId(name), self._folder(SessionId(name)).look()

    def _make_locked(self, folder: SessionFolder) -> FileLock:
        """Make the folder of a new session and lock it. A crash may have left one of its name.

        Raises:
            SessionExists: somebody else is making it.
        """
        atomic.make_folder(self._sessions)
        remove_leftover(folder.path, lock=LOCK)
        with suppress(FileExistsError, FileNotFoundError):
            atomic.new_folder(folder.path)
            lock = try_lock(folder.lock)
            if lock is not None:
                return lock
        raise SessionExists(folder.session_id)

    def _folder(self, session_id: SessionId) -> SessionFolder:
        if not is_id(session_id):
            raise SessionNotFound(session_id)
        return SessionFolder(self.home, self._sessions / session_id, session_id)

    def _lock(self, folder: SessionFolder) -> FileLock:
        with self.home.translated(folder.lock):
            try:
                lock = try_lock(folder.lock)
            except FileNotFoundError as error:
                raise SessionNotFound(folder.session_id) from error
        if lock is None:
            raise SessionBusy(folder.session_id)
        return lock

    @contextmanager
    def _close_ids(self, session_id: SessionId, principal: str | None = None) -> Generator[None]:
        """Let the error that there is no such session name those that look like it."""
        try:
            yield
        except SessionNotFound as error:
            near = close_matches(session_id, list(islice(self._newest(principal=principal), COMPARED_SESSIONS)))
            visible = [known for known in near if self._is_visible(SessionId(known), principal)]
            raise SessionNotFound(session_id, close=visible) from error

    def _is_visible(self, session_id: SessionId, principal: str | None) -> bool:
        found = self._folder(session_id).look()
        return isinstance(found, SessionRecord) and belongs(found, principal)
