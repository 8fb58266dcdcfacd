"""Decoding what is read again and again: the same bytes make the same record, so long ones are decoded once.

A session with many open calls has a long record, which is read several times for each step of the session.
"""

from functools import lru_cache
from typing import Any, Final, TypeVar, cast

from wf_artifacts.storage.documents import Format, require_identity
from wf_artifacts.storage.records import Record

R = TypeVar("R", bound=Record)

LONG_BYTES: Final = 8 * 1024
"""Shorter documents are decoded sooner than looked for."""

LONGEST_BYTES: Final = 1024 * 1024
"""Longer ones take too much room."""

_MOST: Final = 16


class _Decoder:
    """Reads documents of one kind. Compared by what it is, for a Format has no hash."""

    def __init__(self, format: Format[Any]) -> None:
        self.decoded = lru_cache(_MOST)(self._decoded)
        self._format = format

    def _decoded(self, data: bytes, document: str) -> Record:
        return self._format.decode(data, document)


_decoders: dict[str, _Decoder] = {}


def decode(format: Format[R], data: bytes, document: str, **identity: object) -> R:
    """Read a record as `Format.decode` does. Nobody changes what it gives: others are given the same.

    Raises:
        StateCorrupt, FormatTooNew: it cannot be read.
    """
    if not LONG_BYTES <= len(data) <= LONGEST_BYTES:
        return format.decode(data, document, **identity)
    decoder = _decoders.setdefault(format.name, _Decoder(format))
    record = cast("R", decoder.decoded(data, document))
    require_identity(record, document, identity)
    return record
