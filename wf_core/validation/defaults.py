"""What the schemas of a plan's head have to allow: input and state are objects, and state begins with its defaults."""

from collections.abc import Iterator
from typing import Any, cast

from wf_core.jsonvalue import JsonSchema, JsonValue
from wf_core.schemas import compile_schema
from wf_core.validation.report import Findings
from wf_core.validation.schemas import properties_of, types_at

_MOST_PROBLEMS = 3


def check_is_object(schema: JsonSchema, owner: str, found: Findings) -> None:
    """Report a schema that takes no object. `owner` says what always is one."""
    if schema is False:
        found.error("invalid_type", f"{owner} is an object, and this schema takes nothing.", _OBJECT)
        return
    types = types_at(schema, ())
    if "object" not in types:
        here = found.at("type") if isinstance(schema, dict) and "type" in schema else found
        taken = " or ".join(f"`{name}`" for name in sorted(types)) or "nothing"
        here.error("invalid_type", f"{owner} is an object, and this schema takes {taken}.", _OBJECT)


def check_defaults(state_schema: JsonSchema, found: Findings) -> None:
    """Report each default with which a field would begin as its own schema forbids. The schema itself can be used.

    What only nested defaults bring into being may lack what is required: the steps that write it put that there.
    """
    for place, value in _defaults(state_schema, ()):
        check = compile_schema(state_schema, place)
        if check is None:
            continue
        problems = check.problems(value, "default", _MOST_PROBLEMS)
        if problems:
            told = "; ".join(map(str, problems))
            found.at(*place, "default").error("invalid_default", f"Its own schema refuses it: {told}.", _DEFAULT)


_OBJECT = 'Write {"type": "object", "properties": {…}}.'
_DEFAULT = "Let the schema take it as well, or begin with a value that it takes, or take the default out."


def _defaults(schema: object, place: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], JsonValue]]:
    """Give every default, and where its schema stands, as its field would begin: with those of its properties."""
    for name, inner in properties_of(schema).items():
        here = (*place, "properties", name)
        if isinstance(inner, dict) and "default" in inner:
            yield here, _begins(cast("dict[str, Any]", inner))
        yield from _defaults(cast("object", inner), here)


def _begins(schema: dict[str, Any]) -> JsonValue:
    default: JsonValue = schema["default"]
    if not isinstance(default, dict):
        return default
    nested = {name: _begins_below(inner) for name, inner in properties_of(schema).items() if _has_default(inner)}
    return {**nested, **default}


def _begins_below(schema: dict[str, Any]) -> JsonValue:
    return _begins(schema if "default" in schema else {**schema, "default": {}})


def _has_default(schema: object) -> bool:
    """Tell whether a field has a value at the start: its own default, or that of a property."""
    if not isinstance(schema, dict):
        return False
    return "default" in schema or any(map(_has_default, properties_of(cast("object", schema)).values()))
