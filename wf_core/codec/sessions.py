"""The stored form of a session: a header, format `wf.session` version 1, and one line of JSON for each event.

A session that was replayed from its lines goes on as one that was not.
"""

from collections.abc import Iterable

from wf_core.sessions import Session, SessionHeader

FORMAT = "wf.session"
VERSION = 1


def dump_header(session: Session | SessionHeader) -> bytes:
    """Write what of a session never changes: id, seed, agent, parent."""
    raise NotImplementedError


def load_header(data: bytes) -> SessionHeader:
    """Read a header.

    Raises:
        StateCorrupt: damaged; the error says where.
        FormatTooNew: written by a newer version.
    """
    raise NotImplementedError


def replay(header: bytes | SessionHeader, lines: Iterable[bytes]) -> Session:
    """Make a session from its header and its events, oldest first; `fresh_events` is empty.

    Raises:
        StateCorrupt: an event is damaged, unknown, or not allowed where it stands; the error names its line, from 0.
        FormatTooNew: the header was written by a newer version.
    """
    raise NotImplementedError


def dump_session(session: Session) -> bytes:
    """Write the whole state. Sessions that are equal give equal bytes. Nothing reads it: it is there to be compared."""
    raise NotImplementedError
