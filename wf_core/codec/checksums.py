"""Stored JSON that shows by a checksum whether it is what was written.

The last member of the object, or of the last object inside it, is `crc32`: that of every byte before the comma.
"""

from typing import Final
from zlib import crc32

_CRC: Final = b',"crc32":'


def sealed(body: bytes, end: bytes = b"}") -> bytes:
    """Make JSON of an object that lacks only its `end`, and holds a member where the checksum goes."""
    return b"%b%b%d%b" % (body, _CRC, crc32(body), end)


def unsealed(data: bytes, end: bytes = b"}") -> bytes | None:
    """Give what JSON was made of, without its `end`. None where it is not what was written."""
    body, _, found = data.rpartition(_CRC)
    return body if found == b"%d%b" % (crc32(body), end) else None
