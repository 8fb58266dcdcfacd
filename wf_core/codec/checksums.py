"""Stored JSON that shows by a checksum whether it is what was written.

The last member of the object, or of the last object inside it, is `crc32`: that of every byte before the comma.
"""

from typing import Final
from zlib import crc32

_CRC: Final = b',"crc32":'


def sealed(body: bytes | memoryview, end: bytes = b"}") -> bytes:
    """Make JSON of an object that lacks only its `end`, and holds a member where the checksum goes."""
    return b"%b%b%d%b" % (body, _CRC, crc32(body), end)


def is_sealed(data: bytes, end: bytes = b"}") -> bool:
    """Tell whether JSON that ends so is what was written."""
    place = data.rfind(_CRC)
    return place >= 0 and data[place + len(_CRC) :] == b"%d%b" % (crc32(memoryview(data)[:place]), end)


def unsealed(line: bytes) -> bytes | None:
    """Give the object that a line was made of, without its end. None where it is not what was written."""
    return line[: line.rindex(_CRC)] if is_sealed(line) else None
