"""Changes of files that are on disk when the function returns, and that a crash leaves undone or done.

Temporary names begin with a dot and end with `.tmp`; no id begins with a dot. What a crash leaves under such a name is
invisible to readers, and removed by whoever holds the lock over the folder next. Every function raises OSError.
"""

import os
import shutil
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

FOLDER_MODE = 0o700
_FILE_MODE = 0o600


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
        path.mkdir(mode=FOLDER_MODE)
    sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    """Bring the names in a folder to disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_file(path: Path, data: bytes) -> None:
    """Write a file that nobody reads yet. Its name is on disk once its folder is synced."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, _FILE_MODE)
    try:
        _write_all(descriptor, data)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def replace_file(path: Path, data: bytes) -> None:
    """Give a file new content: readers see the old or the new, whole. The folder is there.

    Two writers of the same file take turns under a lock of the caller.
    """
    made = temporary(path)
    try:
        write_file(made, data)
        made.replace(path)
    except BaseException:
        with suppress(OSError):
            made.unlink()
        raise
    sync_folder(path.parent)


def append_to_file(path: Path, data: bytes, *, at: int) -> None:
    """Write `data` at byte `at` of a file, in the place of whatever stood there and behind."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.ftruncate(descriptor, at)
        os.lseek(descriptor, at, os.SEEK_SET)
        _write_all(descriptor, data)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def cut_file(path: Path, *, at: int) -> None:
    """Remove what stands behind byte `at`. No reader looks there, so it may reach the disk later."""
    if path.stat().st_size > at:
        os.truncate(path, at)


def remove_file(path: Path) -> None:
    """Remove a file; one that is gone already is no error."""
    path.unlink(missing_ok=True)
    sync_folder(path.parent)


def publish_folder(made: Path, path: Path) -> None:
    """Let a folder that was made under a temporary name appear under its own, whole."""
    for folder, _, _ in os.walk(made):
        sync_folder(Path(folder))
    made.rename(path)
    try:
        sync_folder(path.parent)
    except OSError:
        path.rename(made)
        raise


def retire_folder(path: Path) -> Path:
    """Let a folder disappear from readers, whole, and give the temporary name under which it can be removed."""
    retired = path.with_name(f".{path.name}.{token_hex(8)}.tmp")
    path.rename(retired)
    sync_folder(path.parent)
    return retired


def remove_folder(path: Path, *, last: str) -> None:
    """Remove a folder with all that is in it; of its files `last` goes last."""
    for entry in list(path.iterdir()):
        if entry.name == last:
            continue
        if entry.is_dir():
            shutil.rmtree(entry)
        else:
            entry.unlink()
    (path / last).unlink(missing_ok=True)
    path.rmdir()


def remove_temporary_files(folder: Path) -> None:
    """Remove what crashed writers left. Only for whoever holds the lock over the folder."""
    for path in folder.iterdir():
        if is_temporary(path.name):
            path.unlink(missing_ok=True)


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
