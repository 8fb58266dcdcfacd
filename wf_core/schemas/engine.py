"""The one place that configures the validator, and how its errors read."""

from collections.abc import Iterable, Sequence

import jsonschema_rs as js

from wf_core.jsonvalue import JsonSchema, JsonValue, dumps, place
from wf_core.schemas.pointers import pointer_to, to_fragment

SHOWN_ALTERNATIVES = 5
_SHOWN_LENGTH = 240
_DOCUMENT = "http://document.invalid/"
"""Stands for the address of a document: nothing can be fetched from there."""


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
    return _build_beside(document, _at(pointer_to(at)))


def build_places(document: JsonSchema, places: Iterable[str]) -> js.Validator:
    """Compile the schemas at many places, JSON Pointers, of a document, for values as `{place: value}`.

    Raises:
        ValueError: as `build`.
    """
    return _build_beside(document, {"properties": {place: _at(place) for place in places}})


def describe(error: js.ValidationError) -> str:
    """Say what is wrong, in one readable line however large the value is."""
    kind = error.kind
    if isinstance(kind, js.ValidationErrorKind.AnyOf | js.ValidationErrorKind.OneOfNotValid):
        firsts = [branch[0] for branch in kind.context[:SHOWN_ALTERNATIVES] if branch]
        reasons = "; ".join(_describe_inside(first, error) for first in firsts)
        return f"{shown(error.instance)} fits none of the alternatives: {reasons}"
    if isinstance(kind, js.ValidationErrorKind.Enum):
        return f"{shown(error.instance)} is none of {clipped(', '.join(shown(option) for option in kind.options))}"
    if isinstance(kind, js.ValidationErrorKind.FalseSchema):
        if error.schema_path[-1:] == ["additionalProperties"]:
            return "no properties are allowed here"
        return f"{shown(error.instance)} is not allowed here"
    return clipped(error.message)


def shown(value: object) -> str:
    """Write a value for a message."""
    return clipped(dumps(value).decode())


def _at(place: str) -> dict[str, JsonValue]:
    return {"$ref": f"{_DOCUMENT}#{to_fragment(place)}"}


def _build_beside(document: JsonSchema, schema: dict[str, JsonValue]) -> js.Validator:
    """Compile a schema that refers to a document under its address, in the dialect of the document."""
    if isinstance(document, dict) and "$schema" in document:
        schema = {"$schema": document["$schema"], **schema}
    known = js.Registry([(_DOCUMENT, document)], retriever=_fetch_nothing)
    return js.validator_for(
        schema, validate_formats=False, pattern_options=js.RegexOptions(), offline=True, registry=known
    )


def _fetch_nothing(address: str) -> JsonSchema:
    raise ValueError(f"{address} leads out of the document")


def _describe_inside(error: js.ValidationError, outer: js.ValidationError) -> str:
    """Describe what keeps an alternative from fitting, naming the place below the value that has alternatives."""
    inner = place("", error.instance_path[len(outer.instance_path) :])
    return f"{inner}: {describe(error)}" if inner else describe(error)


def clipped(text: str) -> str:
    """Leave out the middle of a long text: a message starts with the value and ends with what is wrong with it."""
    if len(text) <= _SHOWN_LENGTH:
        return text
    half = _SHOWN_LENGTH // 2
    return f"{text[:half]} … {text[-half:]}"
