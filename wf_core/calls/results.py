"""What a call gave, as a model reads it: text, JSON, media, or several of them.

    {"type": "text", "content": "…"}    {"type": "json", "content": …}
    {"type": "media", "mime_type": "…", "base64_data": "…", "filename": "…"}    {"type": "mixed", "parts": […]}

`"error": true` beside `type` marks a failed call. What comes from outside is read by `read_result`: JSON that is one of
these is that, spelled in camelCase too; anything else is text.
"""

import base64
import binascii
from dataclasses import dataclass
from typing import TypeAlias, cast

from wf_core.errors import NotJson
from wf_core.jsonvalue import JsonValue, check, dumps, loads


@dataclass(frozen=True, slots=True)
class TextContent:
    content: str


@dataclass(frozen=True, slots=True)
class JsonContent:
    content: JsonValue


@dataclass(frozen=True, slots=True)
class MediaContent:
    mime_type: str
    base64_data: str
    filename: str | None = None


@dataclass(frozen=True, slots=True)
class MixedContent:
    parts: tuple["Content", ...]


Content: TypeAlias = TextContent | JsonContent | MediaContent | MixedContent


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The one result of a call."""

    content: Content
    error: bool = False
    """Whether the call failed; the content then says why."""


def text_result(text: str, *, error: bool = False) -> ToolResult:
    """Make a result of words."""
    return ToolResult(TextContent(text), error)


def json_result(value: JsonValue) -> ToolResult:
    """Make a result of a value."""
    return ToolResult(JsonContent(value))


def read_result(given: bytes | str | JsonValue) -> ToolResult:
    """Read what the outside delivers: one of the four forms as bytes, as text or as a value; anything else is text.

    Never refuses: bytes that are no UTF-8 are read with replacements, a value that is no form is its compact JSON, also
    where it is too deep to be a value. A text stays exactly as it is, white space at its end included.
    """
    if isinstance(given, (bytes, str)):
        text = given.decode(errors="replace") if isinstance(given, bytes) else given.encode(errors="replace").decode()
        try:
            value = loads(text)
            check(value, "result")
        except NotJson:
            return text_result(text)
    else:
        value = given
        try:
            text = dumps(given).decode()
        except NotJson:
            return text_result(_said(given).encode(errors="replace").decode())
    found = read_form(value)
    return text_result(text) if found is None else found


def read_form(value: JsonValue) -> ToolResult | None:
    """Read one of the four forms, in either spelling; None where it is none of them, exactly."""
    if not isinstance(value, dict):
        return None
    members = dict(value)
    error = members.pop("error", False)
    content = _read_content(members)
    if content is None or not isinstance(error, bool) or not _is_storable(content):
        return None
    return ToolResult(content, error)


def check_result(result: ToolResult) -> None:
    """Accept exactly the results that can be stored. What one holds of JSON is a value like any other, as deep as one.

    Raises:
        NotJson: naming the first place that is none, as in `result.content.items[3]`.
    """
    _check(result.content)


def result_to_json(result: ToolResult) -> dict[str, JsonValue]:
    """Write a result, snake_case; `error` only where it is true."""
    written = _content_to_json(result.content)
    return {**written, "error": True} if result.error else written


def as_text(result: ToolResult) -> str:
    """Say a result in words: text as it is, JSON compactly, `[image/png chart.png, 120 bytes]` for media."""
    return _content_text(result.content)


def _said(value: object) -> str:
    """Say what has no form as JSON."""
    try:
        return str(value)
    except ValueError:
        return "[a value that cannot be written down]"
    except RecursionError:
        return "[a value that is nested too deeply]"


def _content_to_json(content: Content) -> dict[str, JsonValue]:
    match content:
        case TextContent():
            return {"type": "text", "content": content.content}
        case JsonContent():
            return {"type": "json", "content": content.content}
        case MediaContent():
            written: dict[str, JsonValue] = {"mime_type": content.mime_type, "base64_data": content.base64_data}
            named: dict[str, JsonValue] = {} if content.filename is None else {"filename": content.filename}
            return {"type": "media", **written, **named}
        case MixedContent():
            return {"type": "mixed", "parts": [_content_to_json(part) for part in content.parts]}


def _content_text(content: Content) -> str:
    match content:
        case TextContent(text):
            return text
        case JsonContent(value):
            return dumps(value).decode()
        case MediaContent():
            name = "" if content.filename is None else f" {content.filename}"
            padding = content.base64_data[-2:].count("=")
            return f"[{content.mime_type}{name}, {len(content.base64_data) // 4 * 3 - padding} bytes]"
        case MixedContent(parts):
            return "\n".join(_content_text(part) for part in parts)


def _read_content(members: dict[str, JsonValue]) -> Content | None:
    match members:
        case {"type": "text", "content": str(text), **rest} if not rest:
            return TextContent(text)
        case {"type": "json", "content": value, **rest} if not rest:
            return JsonContent(value)
        case {"type": "mixed", "parts": list(parts), **rest} if not rest:
            found = [_read_content(dict(part)) if isinstance(part, dict) else None for part in parts]
            return None if None in found else MixedContent(tuple(cast("list[Content]", found)))
        case {"type": "media", **rest}:
            return _read_media({_SPELLED.get(key, key): value for key, value in rest.items()}, len(rest))
        case _:
            return None


def _read_media(members: dict[str, JsonValue], given: int) -> MediaContent | None:
    if len(members) < given:  # one key in both spellings
        return None
    match members:
        case {"mime_type": str(mime_type), "base64_data": str(data), **rest} if _is_base64(data):
            filename = rest.pop("filename", None)
            if rest or not (filename is None or isinstance(filename, str)):
                return None
            return MediaContent(mime_type, data, filename)
        case _:
            return None


_SPELLED = {"mimeType": "mime_type", "base64Data": "base64_data"}


def _is_base64(text: str) -> bool:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


def _check(content: Content) -> None:
    """Refuse what is no strict JSON. The form around a value is not counted: readers of documents have room for it."""
    if isinstance(content, JsonContent):
        check(content.content, "result.content")
    else:
        check(_content_to_json(content), "result")


def _is_storable(content: Content) -> bool:
    try:
        _check(content)
    except NotJson:
        return False
    return True
