"""The one place that configures the validator, and how its errors read."""

from collections.abc import Sequence

import jsonschema_rs as js

from wf_core.jsonvalue import JsonSchema, dumps, place
from wf_core.schemas.pointers import pointer_to

_SHOWN_ALTERNATIVES = 5
_SHOWN_LENGTH = 240


def build(schema: JsonSchema) -> js.Validator:
    """Compile a schema.

    Raises:
        ValueError: the schema cannot be used; a `jsonschema_rs.ValidationError` where the place is known.
    """
    return js.validator_for(schema, validate_formats=False, pattern_options=js.RegexOptions(), offline=True)


def build_inside(document: JsonSchema, at: Sequence[str]) -> js.Validator:
    """Compile the schema that stands at a place in a document.

    Raises:
        ValueError: as `build`.
    """
    inside = js.validator_map_for(document, validate_formats=False, pattern_options=js.RegexOptions(), offline=True)
    found = inside.get("#" + pointer_to(at))
    if found is None:
        raise ValueError(f"there is no usable schema at {pointer_to(at)}")
    return found


def describe(error: js.ValidationError) -> str:
    """Say what is wrong, in one readable line however large the value is."""
    kind = error.kind
    if isinstance(kind, js.ValidationErrorKind.AnyOf | js.ValidationErrorKind.OneOfNotValid):
        firsts = [branch[0] for branch in kind.context[:_SHOWN_ALTERNATIVES] if branch]
        reasons = "; ".join(_describe_inside(first, error) for first in firsts)
        return f"{shown(error.instance)} fits none of the alternatives: {reasons}"
    if isinstance(kind, js.ValidationErrorKind.Enum):
        return f"{shown(error.instance)} is none of {_clipped(', '.join(shown(option) for option in kind.options))}"
    if isinstance(kind, js.ValidationErrorKind.FalseSchema):
        if error.schema_path[-1:] == ["additionalProperties"]:
            return "no properties are allowed here"
        return f"{shown(error.instance)} is not allowed here"
    return _clipped(error.message)


def shown(value: object) -> str:
    """Write a value for a message."""
    return _clipped(dumps(value).decode())


def _describe_inside(error: js.ValidationError, outer: js.ValidationError) -> str:
    """Describe what keeps an alternative from fitting, naming the place below the value that has alternatives."""
    inner = place("", error.instance_path[len(outer.instance_path) :])
    return f"{inner}: {describe(error)}" if inner else describe(error)


def _clipped(text: str) -> str:
    """Leave out the middle: a message starts with the value and ends with what is wrong with it."""
    if len(text) <= _SHOWN_LENGTH:
        return text
    half = _SHOWN_LENGTH // 2
    return f"{text[:half]} … {text[-half:]}"
