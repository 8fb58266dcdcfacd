"""What is known of a writable path before anything is written: its reducer, and the cheapest check that is enough."""

import json
from contextlib import nullcontext
from random import Random
from typing import Any

import pytest

from wf_core.errors import StepFailed
from wf_core.jsonvalue import JsonValue
from wf_core.runtime.patches import apply_writes
from wf_core.runtime.targets import StateShape
from wf_core.schemas import compile_schema
from wf_core.state import Layer

D7 = "http://json-schema.org/draft-07/schema#"


def shape(**properties: Any) -> StateShape:
    return StateShape({"type": "object", "properties": properties})


# Reducers


def test_a_reducer_belongs_to_that_exact_path() -> None:
    declared = shape(a={"type": "object", "reducer": "merge_object", "properties": {"n": {"reducer": "add"}, "m": {}}})
    paths = (("a",), ("a", "n"), ("a", "m"), ("a", "n", "x"), ("b",))
    assert [declared.target(path).reducer for path in paths] == ["merge_object", "add", "replace", "replace", "replace"]


def test_a_reducer_inside_an_array_or_a_combination_belongs_to_no_path() -> None:
    declared = shape(a={"items": {"reducer": "add"}, "allOf": [{"properties": {"n": {"reducer": "add"}}}]})
    assert [declared.target(path).reducer for path in (("a", "items"), ("a", "n"))] == ["replace", "replace"]


def test_another_reducer_may_overrule_the_declared_one() -> None:
    declared = shape(a={"type": "array", "reducer": "extend"})
    assert [declared.target(("a",), reducer).reducer for reducer in (None, "append")] == ["extend", "append"]


# Defaults


def test_defaults_are_collected_and_a_nested_one_brings_its_parents_into_being() -> None:
    properties: dict[str, Any] = {
        "a": {"default": None},
        "b": {"properties": {"c": {"properties": {"d": {"default": [1]}}}, "e": {}}},
        "c": {"default": {"x": 1, "y": 1}, "properties": {"y": {"default": 2}, "z": {"default": 3}}},
        "d": {"default": 7, "properties": {"y": {"default": 2}}},
        "e": {"properties": {"y": {}}},
        "f": True,
    }
    expected = {"a": None, "b": {"c": {"d": [1]}}, "c": {"x": 1, "y": 1, "z": 3}, "d": 7}
    assert shape(**properties).defaults == expected


@pytest.mark.parametrize("schema", [True, {}, {"properties": {}}])
def test_a_state_schema_that_says_nothing_declares_nothing(schema: Any) -> None:
    assert StateShape(schema).defaults == {}


# References and dialects: a field is judged as what it is in its document.


@pytest.mark.parametrize(
    "schema",
    [
        {"$defs": {"x": {"type": "integer"}}, "properties": {"a": {"type": "array", "items": {"$ref": "#/$defs/x"}}}},
        {"definitions": {"x": {"type": "integer"}}, "properties": {"a": {"items": {"$ref": "#/definitions/x"}}}},
        {"properties": {"a": {"items": {"$ref": "#/properties/b"}}, "b": {"type": "integer"}}},
        {"$defs": {"x": {"$anchor": "number", "type": "integer"}}, "properties": {"a": {"items": {"$ref": "#number"}}}},
        {"$schema": D7, "properties": {"a": {"items": [{"type": "integer"}], "additionalItems": False}}},
        {"properties": {"a": {"$ref": "#/properties/b"}, "b": {"items": {"type": "integer"}}}},
    ],
)
@pytest.mark.parametrize("reducer", ["append", "extend", "replace"])
def test_a_field_is_judged_with_the_references_and_the_dialect_of_the_whole_schema(schema: Any, reducer: str) -> None:
    declared = StateShape(schema)
    target = declared.target(("a",), reducer)
    layer = Layer({})
    element, text = 1, "text"
    good: JsonValue = element if reducer == "append" else [element]
    bad: JsonValue = text if reducer == "append" else [text]
    apply_writes(declared, layer, [(target, good)])
    with pytest.raises(StepFailed):
        apply_writes(declared, layer, [(target, bad)])
    assert layer.whole() == {"a": [1]}


# Whichever check is taken, its verdict is that of the whole field's schema.

VALUES: list[Any] = [1, "a", [], [1], None, 6, "long text", ["a", 1], {"a": 1}, {"b": [], "c": 1}, {}]
PATHS = [("a",), ("a", "a"), ("a", "a"), ("a", "b"), ("a", "c"), ("a", "a", "b"), ("a", "c", "a")]
LEAVES: list[Any] = [
    True,
    {},
    {"type": "integer"},
    {"type": ["integer", "null"], "maximum": 5, "reducer": "add"},
    {"maxLength": 3},
    {"type": "array", "reducer": "append", "default": []},
    {"type": "array", "reducer": "append", "maxItems": 1, "items": {"type": "integer"}},
    {"reducer": "append", "items": {"$ref": "#/$defs/x"}},
    {"reducer": "extend", "uniqueItems": True},
    {"type": "array", "reducer": "append", "minItems": 2, "default": [1]},
    {"reducer": "append", "prefixItems": [{"type": "integer"}], "contains": {"type": "string"}},
    {"reducer": "merge_object", "minProperties": 1},
    {"$ref": "#/$defs/x"},
]
ABOVE: list[Any] = [
    {},
    {"description": "says nothing"},
    {"required": ["a"]},
    {"required": ["c", "b"]},
    {"minProperties": 2},
    {"maxProperties": 1},
    {"additionalProperties": False},
    {"additionalProperties": {"type": "integer"}},
    {"patternProperties": {"^[bc]": {"type": "integer"}}},
    {"propertyNames": {"enum": ["a", "b"]}},
    {"dependentRequired": {"a": ["b"]}},
    {"dependentSchemas": {"a": {"required": ["b"]}}},
    {"allOf": [{"properties": {"a": {"maximum": 1}}}]},
    {"anyOf": [{"required": ["b"]}, {"properties": {"a": {"type": "array"}}}]},
    {"oneOf": [{"required": ["b"]}, {"required": ["a"]}]},
    {"not": {"required": ["c"]}},
    {"if": {"required": ["a"]}, "then": {"required": ["b"]}},
    {"unevaluatedProperties": False},
    {"const": {"a": 1}},
    {"enum": [{"a": 1}, {"a": []}, {"a": [1]}]},
    {"$ref": "#/$defs/few"},
]
"""What a schema may say about a property from above it."""


@pytest.mark.parametrize("above", ABOVE, ids=json.dumps)
def test_the_verdict_on_a_write_is_that_of_the_whole_fields_schema(above: Any) -> None:
    """Whatever stands above a path, and whatever at it: writes at random, judged both ways."""
    for number, at in enumerate(LEAVES):
        for beside in ({}, {"b": {"maxLength": 3, "default": "b"}}, {"c": {**above, "properties": {"a": at}}}):
            chance = Random(number)
            writes = [(chance.choice(PATHS), chance.choice(VALUES)) for _ in range(60)]
            judge_both_ways({**above, "properties": {"a": at, **beside}}, writes)


def judge_both_ways(field: Any, writes: list[tuple[tuple[str, ...], JsonValue]]) -> None:
    document = {"$defs": {"x": {"type": "integer"}, "few": {"maxProperties": 1}}, "properties": {"a": field}}
    declared, unchecked = StateShape(document), StateShape(without_checks(document))
    whole = compile_schema(document, ("properties", "a"))
    layer = Layer(dict(declared.defaults))
    for path, incoming in writes:
        free = Layer(dict(layer.values))
        try:
            apply_writes(unchecked, free, [(unchecked.target(path), incoming)])
        except StepFailed:
            continue
        fits = whole is None or whole.accepts(free.values["a"])
        verdict = nullcontext() if fits else pytest.raises(StepFailed, match="would not fit its schema")
        with verdict:
            apply_writes(declared, layer, [(declared.target(path), incoming)])
        assert not fits or layer.values == free.values


def without_checks(schema: Any) -> Any:
    """Keep of a schema only what says how writes meet."""
    if schema is True:
        return {}
    kept = {key: schema[key] for key in ("reducer", "default") if key in schema}
    return {**kept, "properties": {name: without_checks(inner) for name, inner in schema.get("properties", {}).items()}}
