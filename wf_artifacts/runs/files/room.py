"""A file of lines that is appended to, and the room behind its end: zeros that are on disk with the size of the file.

What is appended takes the place of zeros. So a sync brings only that to disk, and nothing that the file system keeps
about the file. Zeros are no line: whoever reads takes them for the end.
"""

import errno
import os
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Final

from wf_artifacts.storage import atomic
from wf_artifacts.storage.places import LATELY_SECONDS

LEAST_ROOM: Final = 8 * 1024
MOST_ROOM: Final = 64 * 1024
"""Bytes of room that are made at once: as many as there are before, between these bounds."""
_APPENDS: Final = 8
"""How many appends room must have to be worth making it."""
_PAGE: Final = 4096


def content_length(data: bytes) -> int:
    """Give how many bytes of a file are not room."""
    return len(data.rstrip(b"\0"))


class RoomyFile:
    """A file that is made by the first append. One process at a time appends to it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None
        self._is_named = False
        """Whether its name is known to be on disk."""
        self._room_ends = 0
        """How far the file reaches on disk, as far as is known."""
        self._wants_room = atomic.CAN_SYNC_DATA
        """False from the beginning of making room until it is there: a disk that is too full is not asked again."""
        self._looked_at = -LATELY_SECONDS
        self._is_outstanding = False
        """Whether somebody is to wait until what was appended is on disk."""

    def append(self, data: bytes, *, at: int, sync: bool, room: bool) -> None:
        """Write `data` behind the first `at` bytes, which are those that count.

        With `sync` it is on disk, with all before it, once `synced` has returned. With `room`, room is made where there
        is none left, if it is worth it and the disk has space.

        Raises:
            OSError: it could not be written; what stands behind byte `at` is anything then.
        """
        if self._descriptor is None:
            self._descriptor = atomic.open_to_append(self._path, at=at)
            self._room_ends = 0
        atomic.write_at(self._descriptor, self._path, data, at=at)
        end = at + len(data)
        if sync and end <= self._room_ends:
            self._is_outstanding = True
            atomic.begin_sync(self._descriptor)
            return
        self._require_name(self._descriptor)
        if sync:
            made = self._make_room(self._descriptor, end, len(data)) if room and self._wants_room else 0
            atomic.sync(self._descriptor, self._path)
            self._room_ends = end + made
            self._wants_room |= bool(made)
            if not self._is_named:
                atomic.sync_folder(self._path.parent)
                self._is_named = True

    def synced(self) -> None:
        """Wait until what was appended to be synced is on disk.

        Raises:
            OSError: what of it is there is not known.
        """
        if self._is_outstanding and self._descriptor is not None:
            self._require_name(self._descriptor)
            atomic.sync_data(self._descriptor, self._path)
            self._is_outstanding = False

    def cut(self, *, at: int) -> None:
        """Remove what a failed append may have written. Where even that fails, the next append does."""
        self.close()
        with suppress(OSError):
            atomic.cut_file(self._path, at=at)

    def trim(self, *, at: int) -> None:
        """Give up the room behind byte `at`. Where that fails, it stays: it is in nobody's way."""
        if self._descriptor is not None:
            with suppress(OSError):
                atomic.cut_open(self._descriptor, self._path, at=at)
            self._room_ends = 0

    def close(self) -> None:
        """Close it. It may be appended to again."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
            self._is_outstanding = False

    def _require_name(self, descriptor: int) -> None:
        """Be sure that the file had a name at most `LATELY_SECONDS` ago.

        A write costs half as much again after somebody asked when the last one was, as Linux keeps the time of that.
        """
        now = monotonic()
        if now >= self._looked_at + LATELY_SECONDS:
            if not os.fstat(descriptor).st_nlink:
                raise FileNotFoundError(errno.ENOENT, "it was removed while it was in use")
            self._looked_at = now

    def _make_room(self, descriptor: int, end: int, appended: int) -> int:
        """Write zeros behind `end`, and give how many: none if they are not worth it, or the disk is too full."""
        size = min(max(end, LEAST_ROOM), MOST_ROOM)
        if appended * _APPENDS > size:
            return 0
        self._wants_room = False
        zeros = bytes(size + -(end + size) % _PAGE)
        try:
            atomic.write_at(descriptor, self._path, zeros, at=end)
        except OSError:
            with suppress(OSError):
                atomic.cut_open(descriptor, self._path, at=end)
            return 0
        return len(zeros)
