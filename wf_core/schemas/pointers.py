"""JSON Pointers: how the place of something inside a plan or a schema is written."""

import re
from collections.abc import Iterable


def pointer_to(steps: Iterable[str | int]) -> str:
    """Write the JSON Pointer to a place."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)


def split_pointer(pointer: str) -> tuple[str, ...]:
    """Read the steps of a JSON Pointer; an index is a text like any other."""
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:])


def to_fragment(pointer: str) -> str:
    """Write a JSON Pointer as the fragment of an address, without its `#`."""
    return re.sub(rb"[^A-Za-z0-9/._~$-]", lambda found: b"%%%02X" % found[0][0], pointer.encode()).decode()


def from_fragment(fragment: str) -> str:
    """Read what `to_fragment` writes, or any other fragment."""
    decoded = re.sub(rb"%([0-9A-Fa-f]{2})", lambda found: bytes([int(found[1], 16)]), fragment.encode())
    return decoded.decode(errors="replace")
