"""JSON on the command line: written out, in a file (`@FILE`), or on standard input (`-`)."""

import sys
from pathlib import Path
from typing import cast

from wf_core import jsonvalue
from wf_core.errors import NotJson
from wf_core.jsonvalue import JsonValue
from wf_mcp.errors import InvalidArgument


def read_json(text: str, *, name: str) -> JsonValue:
    """Read the JSON argument called `name`.

    Raises:
        InvalidArgument: the file cannot be read, or what was given is no strict JSON; the message names the place.
    """
    if text == "-":
        data: bytes | str = sys.stdin.buffer.read()
    elif text.startswith("@"):
        data = read_file(Path(text[1:]))
    else:
        data = text
    return parse(data, name=name)


def read_object(text: str, *, name: str) -> dict[str, JsonValue]:
    """Read a JSON argument that must be an object.

    Raises:
        InvalidArgument: as for `read_json`, or it is something other than an object.
    """
    return _object(read_json(text, name=name), name=name)


def read_plan(file: str) -> dict[str, JsonValue]:
    """Read a plan from a file, or from standard input (`-`).

    Raises:
        InvalidArgument: it cannot be read, or is no JSON object.
    """
    data = sys.stdin.buffer.read() if file == "-" else read_file(Path(file))
    return _object(parse(data, name=file), name=file)


def read_file(path: Path) -> bytes:
    """Read a file that the person named.

    Raises:
        InvalidArgument: it cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise InvalidArgument(f"{path} cannot be read: {error.strerror}.") from error


def parse(data: bytes | str, *, name: str) -> JsonValue:
    """Read strict JSON.

    Raises:
        InvalidArgument: it is none.
    """
    try:
        return jsonvalue.loads(data, name)
    except NotJson as error:
        hint = "JSON may be written out, or be given as @FILE, or as - for standard input."
        raise InvalidArgument(f"{name} is no JSON: {error.reason}.", hint=hint) from error


def _object(value: JsonValue, *, name: str) -> dict[str, JsonValue]:
    if not isinstance(value, dict):
        raise InvalidArgument(f"{name} must be a JSON object.")
    return cast(dict[str, JsonValue], value)
