"""What a call gave, as a model reads it: text, JSON, media, or several of them.

    {"type": "text", "content": "…"}    {"type": "json", "content": …}
    {"type": "media", "mime_type": "…", "base64_data": "…", "filename": "…"}    {"type": "mixed", "parts": […]}

`"error": true` beside `type` marks a failed call. What comes from outside is read by `read_result`: JSON that is one of
these is that, spelled in camelCase too; anything else is text.
"""

from dataclasses import dataclass
from typing import TypeAlias

from wf_core.jsonvalue import JsonValue


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

    Never refuses: bytes that are no UTF-8 are read with replacements, a value that is no form is its compact JSON.
    A text stays exactly as it is, white space at its end included.
    """
    raise NotImplementedError


def result_to_json(result: ToolResult) -> dict[str, JsonValue]:
    """Write a result, snake_case; `error` only where it is true."""
    raise NotImplementedError


def as_text(result: ToolResult) -> str:
    """Say a result in words: text as it is, JSON compactly, `[image/png chart.png, 120 bytes]` for media."""
    raise NotImplementedError
