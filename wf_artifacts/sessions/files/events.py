"""The lines of events.jsonl.

    {"n":12,"event":{…},"crc32":3421780262}

n counts the events before. What version 1 of session.json counts are the events alone: they have no checksum, and stay
as they are where others follow.
"""

from collections.abc import Sequence

from wf_artifacts.sessions.rules import is_event
from wf_artifacts.storage.documents import corrupt
from wf_core.codec.checksums import sealed, unsealed


def event_lines(events: Sequence[bytes], *, since: int) -> bytes:
    """Write events, of which `since` came before."""
    return b"".join(sealed(_beginning(number) + event) + b"\n" for number, event in enumerate(events, since))


def read_events(data: bytes, document: str, *, plain_bytes: int) -> list[bytes]:
    """Read the events of which the first fill `plain_bytes` without checksums.

    Raises:
        StateCorrupt: a line is not what was written.
    """
    events = _lines(data[:plain_bytes], document, end=plain_bytes)
    for number, line in enumerate(events, 1):
        if not is_event(line):
            raise corrupt(document, f"line {number} is no event")
    for line in _lines(data[plain_bytes:], document, end=len(data)):
        body, beginning = unsealed(line), _beginning(len(events))
        if body is None or not body.startswith(beginning):
            raise corrupt(document, f"line {len(events) + 1} is not what was written")
        events.append(body[len(beginning) :])
    return events


def _beginning(number: int) -> bytes:
    return b'{"n":%d,"event":' % number


def _lines(data: bytes, document: str, *, end: int) -> list[bytes]:
    *lines, rest = data.split(b"\n")
    if rest:
        raise corrupt(document, f"no line ends at byte {end}")
    return lines
