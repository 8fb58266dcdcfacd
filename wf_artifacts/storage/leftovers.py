"""What a crash leaves of a folder with a lock in it that was being made or removed, under a temporary name."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from wf_artifacts.storage.atomic import is_temporary, remove_folder
from wf_artifacts.storage.locks import try_lock
from wf_core.ids import is_id


def remove_leftover(path: Path, *, lock: str) -> None:
    """Remove it, if it is there, unless its maker or remover is still at work and holds the file `lock` in it.

    Raises:
        OSError: it cannot be removed.
    """
    with suppress(FileNotFoundError):
        held = try_lock(path / lock)
        if held is not None:
            try:
                remove_folder(path, last=lock)
            finally:
                held.release()


def whole(path: Path, names: Iterable[str], *, lock: str) -> Iterator[str]:
    """Give those of the `names` in a folder that are ids: what is kept there. What a crash left is removed."""
    for name in names:
        if is_temporary(name):
            with suppress(OSError):
                remove_leftover(path / name, lock=lock)
        elif is_id(name):
            yield name
