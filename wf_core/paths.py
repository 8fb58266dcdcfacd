"""Paths of the plan language: `state.person.name`, `input."first name"`, `.`, and templates that hold them.

Owns their grammar and reading a value through one. Writing through a path is `wf_core.state`.
"""

import json
import re
from dataclasses import dataclass
from enum import Enum
from typing import Final, Literal, NoReturn, TypeAlias, cast

from wf_core.errors import InvalidPath, InvalidTemplate
from wf_core.jsonvalue import JsonValue, quote

Root: TypeAlias = Literal["input", "state", "context"]
Segments: TypeAlias = tuple[str, ...]


MAX_SEGMENTS: Final = 32
"""So that what is written through a path stays within what a stored document can hold."""


class Missing(Enum):
    """The type of `MISSING`: nothing is there, which is different from an explicit null."""

    MISSING = "missing"


MISSING: Final = Missing.MISSING


@dataclass(frozen=True, slots=True)
class GraphPath:
    """A path into the run: what it was given, what it remembers, or where it stands."""

    root: Root
    segments: Segments = ()

    def __str__(self) -> str:
        return format_path((self.root, *self.segments))


def parse_graph_path(text: str) -> GraphPath:
    """Read `state.rows.0.id`. The root alone is the whole object.

    Raises:
        InvalidPath: saying at which character the text stops being a path.
    """
    path, end = _read_graph_path(text, 0)
    if end < len(text):
        _fail(text, end)
    return path


def parse_local_path(text: str) -> Segments:
    """Read a path inside a step's own payload: `user.name`, or `.` for the whole payload, which is `()`.

    Raises:
        InvalidPath: saying at which character the text stops being a path.
    """
    if text == ".":
        return ()
    segments, end = _read_segments(text, 0)
    if end < len(text):
        _fail(text, end)
    return segments


def parse_state_target(text: str) -> Segments:
    """Read a path that may be written, `state.<field>…`, and give the segments below `state`.

    Raises:
        InvalidPath: also for `state` alone, `input` and `context`, which are not writable.
    """
    path = parse_graph_path(text)
    if path.root != "state":
        raise InvalidPath(
            f"{quote(text)} is not writable: only state is.", hint="Write to a declared field: state.<field>."
        )
    if not path.segments:
        raise InvalidPath("State is not writable as a whole.", hint="Name the field to write: state.<field>.")
    return path.segments


def parse_template(text: str) -> tuple[str | GraphPath, ...]:
    """Split `"text {{state.name}} text"` into its texts and paths, in order, without empty texts.

    A placeholder may also hold a JSON string, which stands for its text: `{{"{{"}}` is `{{`. A lone `}}` is text.

    Raises:
        InvalidTemplate: for a placeholder that does not end, is empty, has blanks, or holds neither of the two.
    """
    parts: list[str | GraphPath] = []
    literal = ""
    position = 0
    while (start := text.find("{{", position)) >= 0:
        literal += text[position:start]
        found, position = _read_placeholder(text, start + 2)
        if isinstance(found, str):
            literal += found
            continue
        if literal:
            parts.append(literal)
            literal = ""
        parts.append(found)
    literal += text[position:]
    return (*parts, literal) if literal else tuple(parts)


def format_path(segments: Segments) -> str:
    """Write segments so that reading gives them back; `()` is `.`."""
    if not segments:
        return "."
    return ".".join(
        segment if _BARE.fullmatch(segment) else json.dumps(segment, ensure_ascii=False) for segment in segments
    )


def lookup(value: JsonValue, segments: Segments) -> JsonValue | Missing:
    """Follow segments into a value; a whole number indexes an array. `MISSING` where nothing is."""
    for segment in segments:
        if isinstance(value, dict):
            if segment not in value:
                return MISSING
            value = value[segment]
        elif isinstance(value, list) and _INDEX.fullmatch(segment) and int(segment) < len(value):
            value = value[int(segment)]
        else:
            return MISSING
    return value


def overlaps(one: Segments, other: Segments) -> bool:
    """Tell whether two paths are equal or one leads into the other."""
    shared = min(len(one), len(other))
    return one[:shared] == other[:shared]


_BARE = re.compile(r"[A-Za-z0-9_-]+")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_INDEX = re.compile(r"0|[1-9][0-9]{0,17}")
_ROOTS = ("input", "state", "context")


def _read_graph_path(text: str, position: int) -> tuple[GraphPath, int]:
    segments, end = _read_segments(text, position)
    root = segments[0]
    if root not in _ROOTS or text.startswith('"', position):
        raise InvalidPath(
            f"{quote(text)} does not start with input, state or context.",
            hint=f"Did you mean state.{format_path(segments)}?"
            if root not in _ROOTS
            else f"Write {root} without quotes.",
        )
    return GraphPath(root, segments[1:]), end


def _read_segments(text: str, position: int) -> tuple[Segments, int]:
    """Read segments from `position` as far as they go, and say where that is."""
    segment, position = _read_segment(text, position)
    segments = [segment]
    while text.startswith(".", position):
        segment, position = _read_segment(text, position + 1)
        segments.append(segment)
    if len(segments) > MAX_SEGMENTS:
        raise InvalidPath(f"{quote(text)} has more than {MAX_SEGMENTS} segments.")
    return tuple(segments), position


def _read_segment(text: str, position: int) -> tuple[str, int]:
    bare = _BARE.match(text, position)
    if bare is not None:
        return bare.group(), bare.end()
    quoted = _STRING.match(text, position)
    if quoted is None:
        _fail(text, position)
    return _unquote(text, quoted.group()), quoted.end()


def _read_placeholder(text: str, position: int) -> tuple[str | GraphPath, int]:
    """Read what stands between `{{` and `}}`, and say where the text goes on."""
    quoted = _STRING.match(text, position)
    try:
        if quoted is not None:
            found, end = _unquote(text, quoted.group()), quoted.end()
        else:
            found, end = _read_graph_path(text, position)
    except InvalidPath as exc:
        raise InvalidTemplate(
            f"The placeholder at character {position - 2} of {quote(text)} holds no path: {exc.message}",
            hint=_TEMPLATE_HINT,
        ) from exc
    if not text.startswith("}}", end):
        raise InvalidTemplate(
            f"The placeholder at character {position - 2} of {quote(text)} does not end with }}}} at character {end}.",
            hint=_TEMPLATE_HINT,
        )
    return found, end + 2


_TEMPLATE_HINT = 'Write {{state.name}} without blanks; literal braces are {{"{{"}}.'


def _unquote(text: str, quoted: str) -> str:
    segment = cast("str", json.loads(quoted))
    try:
        segment.encode()
    except UnicodeEncodeError as exc:
        raise InvalidPath(f"{quote(text)} has a lone surrogate.") from exc
    return segment


def _fail(text: str, position: int) -> NoReturn:
    """Say where a text stops being a path."""
    if not text:
        raise InvalidPath("An empty text is no path.", hint='The whole payload is ".".')
    if position >= len(text):
        raise InvalidPath(f"{quote(text)} ends where a segment should follow.", hint=_SEGMENT_HINT)
    raise InvalidPath(
        f"{quote(text)} is no path: unexpected {quote(text[position])} at character {position}.", hint=_SEGMENT_HINT
    )


_SEGMENT_HINT = 'A segment is letters, digits, "_" and "-", or a JSON string: state."first name".'
