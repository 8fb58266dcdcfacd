"""What is wrong with a file of the operator, each problem with its place and without the value: it may be secret."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from pydantic import ValidationError
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails

from wf_core.ids import close_matches

Place = tuple[int | str, ...]

_EXPECTED: Mapping[str, str] = {
    "string_type": "expected text",
    "bool_type": "expected true or false",
    "int_type": "expected a whole number",
    "float_type": "expected a number",
    "finite_number": "expected a finite number",
    "list_type": "expected a list",
    "dict_type": "expected an object",
    "model_type": "expected an object",
    "model_attributes_type": "expected an object",
}
"""What stands in place of pydantic's words, which speak of Python."""

_BEGINNING = re.compile(r"^(Value error, |(Input|String|List|Dictionary) (?=should ))")


def problems(
    error: ValidationError,
    known_keys: Callable[[Sequence[int | str]], Iterable[str]],
    *,
    either_spelling: bool = False,
) -> list[str]:
    """Say every problem in order; `known_keys` names the keys that may stand at a place.

    With `either_spelling` keys may be spelled in snake_case too, so that one key may stand there in both.
    """
    faults = error.errors(include_url=False, include_input=False)
    return [_describe(one, known_keys, either_spelling=either_spelling) for one in faults]


def _describe(
    error: ErrorDetails, known_keys: Callable[[Sequence[int | str]], Iterable[str]], *, either_spelling: bool
) -> str:
    where = _place(error["loc"])
    if error["type"] == "extra_forbidden":
        *parents, key = error["loc"]
        if either_spelling and (other := to_camel(str(key))) in known_keys(parents):
            return f"{where} and {_place((*parents, other))} are one key: write one of them"
        close = close_matches(str(key), known_keys(parents), 1)
        return f"unknown key {where}" + (f" (did you mean {close[0]}?)" if close else "")
    if error["type"] == "missing":
        return f"{where} is missing"
    message = _EXPECTED.get(error["type"]) or _BEGINNING.sub("", error["msg"])
    return f"{where}: {message}" if where else message


def _place(location: Place) -> str:
    """Write a place as `mcpServers.files.args[0]`."""
    keys = [part for part in location if part != "[key]"]
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in keys)
    return text.removeprefix(".")
