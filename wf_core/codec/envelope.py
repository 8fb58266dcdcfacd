"""The wrapping of every stored document: `{"format": …, "version": n, "body": {…}}` in strict JSON.

Older bodies are brought up one version at a time; newer and damaged ones are refused. What a body means belongs to
whoever owns its format.
"""

from collections.abc import Callable, Mapping
from typing import Any, cast

from wf_core import jsonvalue
from wf_core.errors import FormatTooNew, NotJson, StateCorrupt

Body = dict[str, Any]
Upgrade = Callable[[Body], Body]

_NO_UPGRADES: Mapping[int, Upgrade] = {}


def dump(format: str, version: int, body: Body) -> bytes:
    """Write a document.

    Raises:
        NotJson: a value in the body is no strict JSON; the error names the place.
    """
    return jsonvalue.dumps({"format": format, "version": version, "body": body})


def load(data: bytes, *, format: str, supported: int, upgrades: Mapping[int, Upgrade] = _NO_UPGRADES) -> Body:
    """Read the body of a document of `format`, brought up to version `supported`.

    `upgrades[n]` makes a body of version n + 1 of one of version n.

    Raises:
        StateCorrupt: the bytes are no such document.
        FormatTooNew: its version is above `supported`.
    """
    version, body = _open(data, format)
    if version > supported:
        raise FormatTooNew(document=f"{format} document", found=version, supported=supported)
    for step in range(version, supported):
        body = upgrades[step](body)
    return body


def _open(data: bytes, format: str) -> tuple[int, Body]:
    """Take the wrapping off."""
    try:
        document = jsonvalue.loads(data)
    except NotJson as error:
        raise StateCorrupt(f"it holds {error.reason}" if data else "it is empty") from error
    match document:
        case {"format": str(found), "version": int(version), "body": dict(body), **rest} if not rest:
            if found != format:
                raise StateCorrupt(f"it is a {found} document, not {format}")
            if isinstance(version, bool) or version < 1:
                raise StateCorrupt("its version is no number from 1 up")
            return version, cast("Body", body)
        case _:
            raise StateCorrupt("it is no object of format, version and body")
