"""JSON on the command line: written out, in a file (`@FILE`), or on standard input (`-`)."""

import sys
from pathlib import Path

from wf_core import jsonvalue
from wf_core.errors import NotJson
from wf_core.jsonvalue import JsonValue
from wf_mcp.config.files import read_bounded
from wf_mcp.errors import InvalidArgument

MOST_BYTES = 256_000_000
"""Of a file or of standard input. How much of that is taken is said elsewhere; this keeps the memory free."""


def read_json(text: str, *, name: str) -> JsonValue:
    """Read the JSON argument called `name`.

    Raises:
        InvalidArgument: the file cannot be read, or what was given is no strict JSON; the message names the place.
    """
    if text == "-":
        return parse(read_stdin(), name=name)
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
        InvalidArgument: it cannot be read, is no file, or is too large.
    """
    try:
        return read_bounded(path, max_bytes=MOST_BYTES)
    except OSError as error:
        raise InvalidArgument(f"{path} cannot be read: {error.strerror}.") from error


def read_stdin() -> bytes:
    """Read standard input to its end.

    Raises:
        InvalidArgument: it is too large.
    """
    data = sys.stdin.buffer.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise InvalidArgument(f"Standard input holds more than {MOST_BYTES} bytes.")
    return data


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
