"""Reading a file that a person named, whatever it turns out to be: within bounds, and without waiting for nobody."""

import errno
import os
import stat
from pathlib import Path

from wf_mcp.config.models import MAX_BYTES


def read_bounded(path: Path, *, max_bytes: int = MAX_BYTES) -> bytes:
    """Read a whole file, or what is written to a pipe until its writer ends, as a shell's `<(command)` gives one.

    Raises:
        OSError: there is none, it may not be read, it holds more than `max_bytes`, or it is a folder, a device or a
            pipe that nobody writes to. `strerror` says which.
    """
    # Opening a pipe would otherwise wait for a writer, without end where there is none.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(descriptor)
        begin = b""
        if stat.S_ISFIFO(status.st_mode):
            begin = _first(descriptor)
        elif stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        elif not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "It is a device, no file")
        if status.st_size <= max_bytes:
            os.set_blocking(descriptor, True)
            with open(descriptor, "rb", closefd=False) as file:  # a descriptor has no path
                data = begin + file.read(max_bytes + 1 - len(begin))
            if len(data) <= max_bytes:
                return data
        raise OSError(errno.EFBIG, f"It holds more than {max_bytes} bytes")
    finally:
        os.close(descriptor)


def _first(pipe: int) -> bytes:
    """Give the first byte of a pipe, or nothing where its writer has written nothing yet."""
    try:
        begin = os.read(pipe, 1)
    except BlockingIOError:
        return b""
    if not begin:
        raise OSError(errno.EPIPE, "It is a pipe that nobody writes to")
    return begin
