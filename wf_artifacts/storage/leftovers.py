"""What a crash leaves of a folder with a lock in it that was being made or removed, under a temporary name."""

from contextlib import suppress
from pathlib import Path

from wf_artifacts.storage.atomic import remove_folder
from wf_artifacts.storage.locks import try_lock


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
