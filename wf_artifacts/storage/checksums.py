"""Lines that show by a checksum whether they are what was written.

A line is a JSON object whose last member is `crc32`, that of every byte before the comma.
"""

from typing import Final
from zlib import crc32

_CRC: Final = b',"crc32":'


def sealed(body: bytes) -> bytes:
    """Make a line of an object that lacks only its end."""
    return b"%b%b%d}" % (body, _CRC, crc32(body))


def unsealed(line: bytes) -> bytes | None:
    """Give the object that a line was made of, without its end. None where it is not what was written."""
    body, _, found = line.rpartition(_CRC)
    return body if found == b"%d}" % crc32(body) else None
