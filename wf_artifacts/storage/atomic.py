"""Changes of files that are on disk when the function returns, and that a crash leaves undone or done.

Temporary names begin with a dot and end with `.tmp`; no id begins with a dot. What a crash leaves under such a name is
invisible to readers, and removed by whoever holds the lock over the folder next. Every function raises OSError. Each
change is a step of `steps`.
"""

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from wf_artifacts.storage.steps import is_observed, step, step_in_halves

CAN_SYNC_DATA: Final = hasattr(os, "fdatasync")
"""Whether what a file holds can be brought to disk without what is kept about it (not on macOS)."""

_SYNC_FILE_RANGE_WRITE: Final = 2

FOLDER_MODE = 0o700
FILE_MODE = 0o600


def temporary(path: Path) -> Path:
    """Name the place in the same folder where `path` is made before it takes its name."""
    return path.with_name(f".{path.name}.tmp")


def is_temporary(name: str) -> bool:
    """Tell whether a name is one of `temporary`."""
    return name.startswith(".") and name.endswith(".tmp")


def make_folder(path: Path) -> None:
    """Make a folder and those above it, unless it is there."""
    if path.is_dir():
        return
    make_folder(path.parent)
    with suppress(FileExistsError):
        new_folder(path)
    sync_folder(path.parent)


def new_folder(path: Path) -> None:
    """Make a folder that is not there yet. Its name is on disk once the folder above it is synced."""
    with step("mkdir", path.name):
        path.mkdir(mode=FOLDER_MODE)


def sync_folder(path: Path) -> None:
    """Bring the names in a folder to disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        sync(descriptor, path)
    finally:
        os.close(descriptor)


def sync(descriptor: int, path: Path) -> None:
    """Bring what was written to an open file to disk."""
    with step("fsync", path.name):
        os.fsync(descriptor)


def sync_data(descriptor: int, path: Path) -> None:
    """Bring what was written over what an open file held to disk. Only where `CAN_SYNC_DATA`."""
    with step("fdatasync", path.name):
        os.fdatasync(descriptor)


def begin_sync(descriptor: int) -> None:
    """Let the system begin to bring what was written to disk, so that whoever syncs it later waits less.

    Nothing is promised by it, and nothing is done where the system cannot.
    """
    begin = _sync_file_range()
    if begin is not None:
        begin(descriptor, 0, 0, _SYNC_FILE_RANGE_WRITE)


@cache
def _sync_file_range() -> Callable[[int, int, int, int], int] | None:
    """Find the function of Linux. Which of its callers fails is told by the sync that follows."""
    import ctypes  # noqa: PLC0415  # takes milliseconds

    function = getattr(ctypes.CDLL(None), "sync_file_range", None)
    if function is not None:
        function.argtypes = (ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint)
    return function


class Writing(NamedTuple):
    """What is to be written to a file, which is made where it is missing."""

    path: Path
    data: bytes
    at: int = 0
    """At which byte, in the place of whatever stands there and behind. Nobody reads that."""


def write_file(path: Path, data: bytes) -> None:
    """Write a file that nobody reads yet. Its name is on disk once its folder is synced."""
    write_files([Writing(path, data)])


def write_files(writings: Sequence[Writing]) -> None:
    """Write into files, in any order. The name of one that is new is on disk once its folder is synced."""
    with ExitStack() as opened:
        descriptors: list[int] = []
        for path, data, at in writings:
            descriptors.append(open_to_append(path, at=at))
            opened.callback(os.close, descriptors[-1])
            write_at(descriptors[-1], path, data, at=at)
        if len(writings) > 1:
            # The system begins with all of them, so that waiting for the first is most of waiting for the others.
            for descriptor in descriptors:
                begin_sync(descriptor)
        for descriptor, writing in zip(descriptors, writings, strict=True):
            sync(descriptor, writing.path)


def replace_file(path: Path, data: bytes) -> None:
    """Give a file new content: readers see the old or the new, whole. The folder is there.

    Two writers of the same file take turns under a lock of the caller.
    """
    made = temporary(path)
    try:
        write_file(made, data)
        put_in_place(path)
    except BaseException:
        with suppress(OSError):
            made.unlink()
        raise


def put_in_place(path: Path) -> None:
    """Give a file the content that was written under its temporary name: readers see the old or the new."""
    with step("rename", path.name):
        temporary(path).replace(path)
    sync_folder(path.parent)


def make_mark(path: Path) -> None:
    """Make an empty file, which only its name says something with, unless it is there. The folder is there."""
    with step("create", path.name):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, FILE_MODE))
    sync_folder(path.parent)


def publish_file(made: Path, path: Path) -> None:
    """Let a file that was made under a temporary name appear under its own, whole."""
    descriptor = os.open(made, os.O_RDONLY | os.O_CLOEXEC)
    try:
        sync(descriptor, made)
    finally:
        os.close(descriptor)
    with step("rename", path.name):
        made.rename(path)
    sync_folder(path.parent)


def append_to_file(path: Path, data: bytes, *, at: int) -> None:
    """Write `data` at byte `at` of a file, in the place of whatever stood there and behind."""
    write_files([Writing(path, data, at)])


def open_to_append(path: Path, *, at: int) -> int:
    """Open a file, made where it is missing, of which the first `at` bytes count. Gives a descriptor to be closed."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
    try:
        cut_open(descriptor, path, at=at)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def write_at(descriptor: int, path: Path, data: bytes, *, at: int) -> None:
    """Write into an open file. It is on disk once it is synced."""
    if not is_observed():
        written = os.pwrite(descriptor, data, at)
        if written == len(data):
            return
        data, at = data[written:], at + written
    with step_in_halves("write", path.name, data) as parts:
        for part in parts:
            rest = memoryview(part)
            while rest:
                written = os.pwrite(descriptor, rest, at)
                rest = rest[written:]
                at += written


def cut_open(descriptor: int, path: Path, *, at: int) -> None:
    """Remove what stands behind byte `at` of an open file. No reader looks there, so it may reach the disk later."""
    if os.fstat(descriptor).st_size > at:
        with step("truncate", path.name):
            os.ftruncate(descriptor, at)


def cut_file(path: Path, *, at: int) -> None:
    """Remove what stands behind byte `at`. No reader looks there, so it may reach the disk later."""
    if path.stat().st_size > at:
        with step("truncate", path.name):
            os.truncate(path, at)


def remove_file(path: Path) -> None:
    """Remove a file; one that is gone already is no error."""
    unlink(path)
    sync_folder(path.parent)


def unlink(path: Path) -> None:
    """Remove a file that no reader looks at, so it may reach the disk later; one that is gone already is no error."""
    with step("unlink", path.name):
        path.unlink(missing_ok=True)


def publish_folder(made: Path, path: Path) -> None:
    """Let a folder that was made under a temporary name appear under its own, whole."""
    for folder, _, _ in os.walk(made):
        sync_folder(Path(folder))
    with step("rename", path.name):
        made.rename(path)
    try:
        sync_folder(path.parent)
    except OSError:
        path.rename(made)
        raise


def move(path: Path, place: Path) -> None:
    """Move a file or a folder to a place where there is none."""
    with step("rename", path.name):
        path.rename(place)
    sync_folder(place.parent)
    sync_folder(path.parent)


def retire_folder(path: Path) -> Path:
    """Let a folder disappear from readers, whole, and give the temporary name under which it can be removed."""
    retired = temporary(path)
    with step("rename", path.name):
        path.rename(retired)
    sync_folder(path.parent)
    return retired


def remove_folder(path: Path, *, last: str) -> None:
    """Remove a folder with all that is in it; of its files `last` goes last."""
    for folder, _, names in os.walk(path, topdown=False):
        inside = Path(folder)
        for name in names:
            if inside / name != path / last:
                unlink(inside / name)
        if inside != path:
            with step("rmdir", inside.name):
                inside.rmdir()
    unlink(path / last)
    with step("rmdir", path.name):
        path.rmdir()


def remove_temporary_files(folder: Path) -> None:
    """Remove what crashed writers left. Only for whoever holds the lock over the folder."""
    for path in folder.iterdir():
        if is_temporary(path.name):
            unlink(path)
