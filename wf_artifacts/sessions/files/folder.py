"""One session on disk.

    session.json      the record, and how many bytes of events.jsonl count
    header.json       what the session was created with; never changed
    events.jsonl      one event a line (`events`); only added to
    lock              held by whoever advances the session

Events are on disk before session.json is replaced, which is the instant at which they count. What stands behind them
was never stored: readers do not look there, and the next holder of the lock removes it.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import Any, Final

from pydantic import Field

from wf_artifacts.errors import SessionNotFound
from wf_artifacts.sessions.decoding import decode
from wf_artifacts.sessions.files.events import event_lines, read_events
from wf_artifacts.sessions.models import SessionRecord, StoredSession
from wf_artifacts.sessions.rules import require_next_state
from wf_artifacts.storage import atomic
from wf_artifacts.storage.digests import bytes_digest
from wf_artifacts.storage.documents import Format, corrupt
from wf_artifacts.storage.home import Home
from wf_artifacts.storage.records import Record
from wf_core.errors import WfError
from wf_core.ids import SessionId

LOCK: Final = "lock"

Found = SessionRecord | WfError | None
"""What there is of a session: its record, why it cannot be read, or None where there is no such session."""

Announce = Callable[[SessionRecord], AbstractContextManager[None]]
"""Held while the status of a session becomes that of a record."""


class SessionHead(Record):
    """What session.json says."""

    record: SessionRecord
    header_digest: str
    """`bytes_digest` of header.json."""
    events_bytes: int = Field(ge=0)
    """How many bytes of events.jsonl count."""
    plain_bytes: int = Field(default=0, ge=0)
    """How many of them, the first, hold events without checksums."""


def _without_checksums(body: dict[str, Any]) -> dict[str, Any]:
    """Take what version 1 said: the events that it counts have no checksums."""
    return body | {"plain_bytes": body.get("events_bytes")}


SESSION_HEAD = Format("wf.session_head", 3, SessionHead, upgrades={1: _without_checksums}, plain=2)


class SessionFolder:
    """The folder of a session, under its own name or the temporary one under which it is made."""

    def __init__(self, home: Home, path: Path, session_id: SessionId) -> None:
        self.home = home
        self.path = path
        self.session_id = session_id

    @property
    def lock(self) -> Path:
        return self.path / LOCK

    @property
    def head_path(self) -> Path:
        return self.path / "session.json"

    @property
    def header_path(self) -> Path:
        return self.path / "header.json"

    @property
    def events_path(self) -> Path:
        return self.path / "events.jsonl"

    def exists(self) -> bool:
        """Tell whether there is a session here."""
        return self.home.has(self.head_path)

    def head(self) -> SessionHead:
        """Read session.json.

        Raises:
            SessionNotFound: there is none.
        """
        data = self.home.read(self.head_path)
        if data is None:
            raise SessionNotFound(self.session_id)
        head = decode(SESSION_HEAD, data, self.home.document(self.head_path))
        if head.record.session_id != self.session_id:
            raise corrupt(self.home.document(self.head_path), f"it belongs to {head.record.session_id}")
        return head

    def look(self) -> Found:
        """Tell what there is of the session."""
        try:
            return self.head().record
        except SessionNotFound:
            return None
        except WfError as error:
            return error

    def header(self, head: SessionHead) -> bytes:
        """Read header.json."""
        data = self._required(self.header_path)
        if bytes_digest(data) != head.header_digest:
            raise corrupt(self.home.document(self.header_path), "it is not what the session was created with")
        return data

    def events(self, head: SessionHead) -> list[bytes]:
        """Read the events that count."""
        data = self._required(self.events_path)
        document = self.home.document(self.events_path)
        if len(data) < head.events_bytes:
            raise self._too_short(len(data), head)
        found = read_events(data[: head.events_bytes], document, plain_bytes=head.plain_bytes)
        if len(found) != head.record.position:
            raise corrupt(document, f"it holds {len(found)} events, not {head.record.position}")
        return found

    def load(self) -> StoredSession:
        """Read everything. What counts is never changed, so it fits together whatever is stored meanwhile."""
        head = self.head()
        return StoredSession(head.record, self.header(head), self.events(head))

    def require_length(self, head: SessionHead) -> None:
        """Accept events.jsonl without reading it.

        Raises:
            StateCorrupt: it is shorter than what counts.
        """
        size = self.home.size(self.events_path)
        if size < head.events_bytes:
            raise self._too_short(size, head)

    def version(self) -> tuple[int, int]:
        """Tell one content of session.json from another.

        Raises:
            SessionNotFound: there is none.
        """
        with self.home.translated(self.head_path):
            try:
                found = self.head_path.stat()
            except FileNotFoundError as error:
                raise SessionNotFound(self.session_id) from error
        return found.st_ino, found.st_mtime_ns

    def _required(self, path: Path) -> bytes:
        data = self.home.read(path)
        if data is None:
            # It may be that the session was deleted meanwhile.
            raise corrupt(self.home.document(path), "it is missing") if self.exists() else self._gone()
        return data

    def _gone(self) -> WfError:
        return SessionNotFound(self.session_id)

    def _too_short(self, size: int, head: SessionHead) -> WfError:
        return corrupt(self.home.document(self.events_path), f"it has {size} bytes, not {head.events_bytes}")


class Holder:
    """A session whose lock is held: what is stored next, and what is removed."""

    def __init__(self, folder: SessionFolder, announce: Announce, head: SessionHead | None = None) -> None:
        self._folder = folder
        self._announce = announce
        self._head = head
        """None before the first change, and after one that failed: only the files know then."""

    def tidy(self) -> SessionHead:
        """Read how far the session is, and remove what does not count: a holder that died may have left it.

        Raises:
            StateCorrupt: it cannot be read; nothing was removed.
        """
        folder = self._folder
        head = folder.head()
        folder.require_length(head)
        with folder.home.translated(folder.path):
            atomic.remove_temporary_files(folder.path)
            if head.events_bytes or folder.events_path.exists():
                atomic.cut_file(folder.events_path, at=head.events_bytes)
        self._head = head
        return head

    def store(self, record: SessionRecord, events: Sequence[bytes]) -> None:
        """Store the next state, in one step."""
        folder = self._folder
        head = self._head or self.tidy()
        require_next_state(head.record, record, events)
        lines = event_lines(events, since=head.record.position)
        moved = head.model_copy(update={"record": record, "events_bytes": head.events_bytes + len(lines)})
        data = SESSION_HEAD.encode(moved)
        changing = nullcontext() if record.status == head.record.status else self._announce(record)
        self._head = None
        with folder.home.translated(folder.path):
            try:
                if lines:
                    atomic.append_to_file(folder.events_path, lines, at=head.events_bytes)
                with changing:
                    atomic.replace_file(folder.head_path, data)
            except BaseException:
                with suppress(OSError, WfError):
                    self.tidy()
                raise
        self._head = moved
