"""What may stand in the place of a document, so that it cannot be read."""

import os
import socket
from collections.abc import Callable, Mapping
from pathlib import Path


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as bound:
        # The name of a socket may not be long.
        here = Path.cwd()
        os.chdir(path.parent)
        try:
            bound.bind(path.name)
        finally:
            os.chdir(here)


OBSTACLES: Mapping[str, Callable[[Path], None]] = {
    "folder": Path.mkdir,
    "pipe": os.mkfifo,
    "socket": _socket,
    "loop": lambda path: path.symlink_to(path.name),
}


def replace(path: Path, obstacle: str) -> None:
    """Put an obstacle in the place of a file."""
    path.unlink()
    OBSTACLES[obstacle](path)
