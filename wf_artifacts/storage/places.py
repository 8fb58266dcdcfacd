"""Whether what a process uses is still where it was when it was first used.

A file or a folder that is open goes on taking what is written to it after it was moved or removed, and what it took is
lost then with its process.
"""

import os
from pathlib import Path
from time import monotonic
from typing import Final

from wf_artifacts.errors import StoreGone
from wf_artifacts.storage.faults import refusal

LATELY_SECONDS: Final = 0.01
"""How long what was seen holds for what is done so often that a look each time would be a good part of it."""


class Place:
    """A path, and what it led to when there was something for the first time. `document` names it in errors."""

    def __init__(self, path: Path, document: str) -> None:
        self._path = str(path)
        self._document = document
        self._found: tuple[int, int] | None = None
        self._looked_at = -LATELY_SECONDS

    def require_lately(self) -> None:
        """Be sure that the path led to what it led to before at most `LATELY_SECONDS` ago.

        Raises:
            StoreGone, StoreUnavailable: as `require`.
        """
        now = monotonic()
        if now >= self._looked_at + LATELY_SECONDS:
            self.require()
            self._looked_at = now

    def require(self) -> None:
        """Be sure that the path leads to what it led to before. One call to the operating system.

        Raises:
            StoreGone: it leads to something else, or nowhere.
            StoreUnavailable: the operating system does not say.
        """
        # Other threads may find it meanwhile: what there was before one looks decides, not what there is afterwards.
        before = self._found
        try:
            status = os.stat(self._path)  # noqa: PTH116  # a Path costs twice as much
        except (FileNotFoundError, NotADirectoryError):
            found = None
        except OSError as error:
            raise refusal(self._document, error) from error
        else:
            found = (status.st_dev, status.st_ino)
        if before is None:
            self._found = found or self._found
        elif found != before:
            raise StoreGone(self._document)
