"""The wrapping of every stored document: `{"format": …, "version": n, "body": {…, "crc32": …}}` in strict JSON.

`crc32` shows whether the document is what was written. It is a member of the body, because programs that know nothing
of it accept no other beside format, version and body: so they see that a newer version wrote the document.
Older bodies are brought up one version at a time; newer and damaged ones are refused. What a body means belongs to
whoever owns its format.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from wf_core import jsonvalue
from wf_core.codec.checksums import is_sealed, sealed
from wf_core.errors import FormatTooNew, NotJson, StateCorrupt

Body = dict[str, Any]
Upgrade = Callable[[Body], Body]

_NO_UPGRADES: Mapping[int, Upgrade] = {}
_CHECKSUM: Final = "crc32"
_END: Final = b"}}"


def dump(format: str, version: int, body: Body) -> bytes:
    """Write a document. Its body has a member, and none is called `crc32`.

    Raises:
        NotJson: a value in the body is no strict JSON; the error names the place.
    """
    if not body or _CHECKSUM in body:
        raise ValueError(f"The body of a document has a member, and none is called {_CHECKSUM}.")
    data = jsonvalue.dumps({"format": format, "version": version, "body": body})
    return sealed(memoryview(data)[: -len(_END)], _END)


def load(
    data: bytes, *, format: str, supported: int, plain: int = 0, upgrades: Mapping[int, Upgrade] = _NO_UPGRADES
) -> Body:
    """Read the body of a document of `format`, brought up to version `supported`.

    `upgrades[n]` makes a body of version n + 1 of one of version n. Documents up to version `plain` have no checksum;
    from that version to the next the body may stay as it is.

    Raises:
        StateCorrupt: the bytes are no such document, or not what was written.
        FormatTooNew: its version is above `supported`.
    """
    version, body = _open(data, format)
    if version > supported:
        raise FormatTooNew(document=f"{format} document", found=version, supported=supported)
    if _CHECKSUM in body:
        if not is_sealed(data, _END):
            raise StateCorrupt("it is not what was written")
        del body[_CHECKSUM]
    elif version > plain:
        raise StateCorrupt("its checksum is missing")
    for step in range(version, supported):
        if step != plain or step in upgrades:
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
