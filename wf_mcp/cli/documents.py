"""JSON on the command line: written out, in a file (`@FILE`), or on standard input (`-`)."""

import sys
from pathlib import Path

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
        return parse(sys.stdin.buffer.read(), name=name)
    return parse(read_file(Path(text[1:])) if text.startswith("@") else text, name=name)


def read_object(text: str, *, name: str) -> dict[str, JsonValue]:
    """Read a JSON argument that must be an object.

    Raises:
        InvalidArgument: as for `read_json`, or it is something other than an object.
    """
    value = read_json(text, name=name)
    if not isinstance(value, dict):
        raise InvalidArgument(f"{name} must be a JSON object.", hint='As in {"name": "value"}.')
    return value


def read_plan(text: str) -> dict[str, JsonValue]:
    """Read a plan, which may also be named by the bare name of its file.

    Raises:
        InvalidArgument: it cannot be read, or is no JSON object.
    """
    written_out = text == "-" or text.startswith(("@", "{"))
    return read_object(text if written_out else f"@{text}", name="PLAN")


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
