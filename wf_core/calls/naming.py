"""How a capability's name is spelled for a model: as every vendor takes it, each differently."""

import re
from typing import Final

LONGEST_NAME: Final = 64
"""Characters of a tool's name."""

_UNSAFE = re.compile(r"[^a-zA-Z0-9_-]")


def spelled(name: str) -> str:
    """Put `_` for each character that a vendor may refuse. The length stays."""
    return _UNSAFE.sub("_", name)
