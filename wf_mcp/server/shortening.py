"""Values and texts in fewer bytes: what is left of them, and how it is marked.

As `jsonvalue.shorten` does it, with previews that are as long as there is room for.
"""

from typing import Final, NamedTuple

from wf_core import jsonvalue
from wf_core.jsonvalue import JsonValue

_NO_PREVIEW: Final = 2
"""Bytes of a preview without a word."""


def shortened(value: JsonValue, limit: int, preview: int) -> JsonValue:
    """Give a value in about `limit` bytes: its smallest parts that are too long become markers.

    A marker is `{"$truncated": true, "bytes": n, "preview": "…"}`; its preview has at most `preview` bytes. The same
    object where it is short enough.
    """
    if not isinstance(value, (str, list, dict)) or jsonvalue.size(value) <= limit:
        return value
    short, markers = _parts(value, limit, _NO_PREVIEW)
    room = max(0, limit - jsonvalue.size(short)) // max(1, markers)
    return _parts(value, limit, min(preview, _NO_PREVIEW + room)).value


def cut(text: str, limit: int) -> str:
    """Give a text in about `limit` bytes: its beginning, and how long it is. The same text where it is short enough."""
    # No character takes more than six bytes.
    if 6 * len(text) + 2 <= limit or jsonvalue.size(text) <= limit:
        return text
    return f"{_beginning(text, limit)} … ({len(text)} characters in all)"


class _Parts(NamedTuple):
    value: JsonValue
    markers: int


def _parts(value: str | list[JsonValue] | dict[str, JsonValue], limit: int, preview: int) -> _Parts:
    if isinstance(value, str) and 6 * len(value) + 2 <= limit:
        return _Parts(value, 0)
    encoded = jsonvalue.dumps(value)
    if len(encoded) <= limit:
        return _Parts(value, 0)
    if not isinstance(value, str):
        markers, found = 0, list[JsonValue]()
        for item in value.values() if isinstance(value, dict) else value:
            if isinstance(item, (str, list, dict)):
                part = _parts(item, limit, preview)
                found.append(part.value)
                markers += part.markers
            else:
                found.append(item)
        short: JsonValue = dict(zip(value, found, strict=True)) if isinstance(value, dict) else found
        if jsonvalue.size(short) <= limit:
            return _Parts(short, markers)
    text = value if isinstance(value, str) else encoded[:limit].decode(errors="ignore")
    return _Parts({"$truncated": True, "bytes": len(encoded), "preview": _beginning(text, preview)}, 1)


def _beginning(text: str, limit: int) -> str:
    """Give as much of a text as `limit` bytes of JSON hold."""
    short = text[:limit]
    while (size := jsonvalue.size(short)) > limit:
        short = short[: len(short) * limit // (size + 2)]
    return short
