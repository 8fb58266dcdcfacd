"""Schemas whose ways multiply are explained as others are, in little time."""

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wf_core.jsonvalue import MAX_DEPTH, JsonValue, place
from wf_core.schemas import compile_schema, schema_issues
from wf_core.schemas.engine import build
from wf_core.schemas.explanation import explainer

Schema = dict[str, Any]

SECONDS = 5
"""What is exponential here would take more than the age of the world."""


def into(target: str = "n") -> Schema:
    """A schema for objects whose member `a` is what a definition says."""
    return {"type": "object", "properties": {"a": {"$ref": f"#/$defs/{target}"}}, "required": ["a"]}


def root(**definitions: Any) -> Schema:
    return {"$ref": "#/$defs/n", "$defs": definitions}


def one_of_two(target: str, other: str) -> Schema:
    return {"anyOf": [into(target), into(other), {"type": "integer"}]}


DYNAMIC = {"properties": {"a": {"$dynamicRef": "#n"}}, "required": ["a"]}

HOSTILE: dict[str, Schema] = {
    "any": root(n={"anyOf": [into(), into(), {"type": "integer"}]}),
    "one": root(n={"oneOf": [into(), into(), {"type": "integer"}]}),
    "all": root(n={"allOf": [into(), into()]}),
    "not": root(n={"not": {"anyOf": [{"not": into()}, {"not": into()}]}}),
    "if": root(n={"if": into(), "then": into(), "else": {"anyOf": [into(), {"type": "integer"}]}}),
    "keys": root(n={"properties": {"a": into("n")}, "patternProperties": {"a": into("n")}}),
    "by turns": root(n=one_of_two("x", "y"), x=one_of_two("n", "y"), y=one_of_two("n", "x")),
    "unevaluated": root(n={"anyOf": [into(), into(), {"type": "integer"}], "unevaluatedProperties": into()}),
    "dynamic": {"$dynamicAnchor": "n", "anyOf": [DYNAMIC, DYNAMIC, {"type": "integer"}]},
    "unrolled": root(
        n=one_of_two("d9", "d9"),
        d0={"type": "integer"},
        **{f"d{level}": one_of_two(f"d{level - 1}", f"d{level - 1}") for level in range(1, 10)},
    ),
}


def nested(leaf: JsonValue, levels: int = MAX_DEPTH - 3) -> JsonValue:
    for _ in range(levels):
        leaf = {"a": leaf}
    return leaf


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("leaf", ["x", 1, {"b": 1}])
def test_a_schema_whose_ways_multiply_with_each_level_judges_and_explains_at_once(name: str, leaf: JsonValue) -> None:
    assert schema_issues(HOSTILE[name]) == []
    check = compile_schema(HOSTILE[name])
    assert check is not None
    begun = time.perf_counter()
    for value in (nested(leaf), [nested(leaf)] * 100, nested(leaf, 8)):
        problems = check.problems(value, "input")
        assert bool(problems) != check.accepts(value)
        assert len(problems) <= 10
        assert all(len(problem.message) < 3000 for problem in problems)
    assert time.perf_counter() - begun < SECONDS


def test_a_large_value_is_not_looked_through_again_at_each_level() -> None:
    check = compile_schema(HOSTILE["any"])
    assert check is not None
    begun = time.perf_counter()
    large: list[JsonValue] = ["x" * 100] * 50_000
    assert check.problems(nested(large), "input")
    assert time.perf_counter() - begun < SECONDS


TREE = root(
    n={
        "type": "object",
        "properties": {"name": {"type": "string"}, "below": {"type": "array", "items": {"$ref": "#/$defs/n"}}},
        "required": ["name"],
        "additionalProperties": False,
    }
)


def test_every_problem_in_a_tree_has_its_place() -> None:
    check = compile_schema(TREE)
    assert check is not None
    value: JsonValue = {"name": "a", "below": [{"name": 3}, {"name": "b", "below": [{"nam": "c"}]}, {"name": "d"}]}
    assert sorted(map(str, check.problems(value, "input"))) == [
        'input.below[0].name: 3 is not of type "string"',
        'input.below[1].below[0]: "name" is a required property',
        "input.below[1].below[0]: Additional properties are not allowed ('nam' was unexpected)",
    ]
    numbers: list[JsonValue] = [1] * 50
    assert len(check.problems({"name": "a", "below": numbers}, "input", limit=7)) == 7


def test_an_alternative_that_fits_too_often_and_what_is_ruled_out_are_told() -> None:
    twice: Schema = {"oneOf": [{"minimum": 1}, {"minimum": 2}]}
    check = compile_schema({"properties": {"a": twice, "b": {"not": {"type": "string"}}, "c": {"$ref": "#"}}})
    assert check is not None
    assert sorted(map(str, check.problems({"a": 3, "b": "x"}, "input"))) == [
        "input.a: 3 fits more than one of the alternatives",
        'input.b: "x" is what is ruled out',
    ]


def test_beside_a_reference_nothing_counts_where_the_dialect_says_so() -> None:
    schema: Schema = {"properties": {"a": {"$ref": "#", "required": ["b"]}, "c": {"type": "string"}}}
    dialects = {"http://json-schema.org/draft-07/schema#": 1, "https://json-schema.org/draft/2020-12/schema": 2}
    for dialect, count in dialects.items():
        check = compile_schema({"$schema": dialect, **schema})
        assert check is not None
        assert len(check.problems({"a": {"c": 1}}, "input")) == count


def test_a_schema_that_branches_little_is_left_to_the_engine() -> None:
    assert explainer({"properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}}, "") is None
    assert explainer(False, "") is None


plain = st.sampled_from(
    [True, False, {"type": "string"}, {"type": "object"}, {"enum": ["a", 1]}, {"minimum": 2, "required": ["a"]}]
)


def larger(schemas: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    named = st.dictionaries(st.sampled_from("ab"), schemas, max_size=2)
    listed = st.lists(schemas, min_size=1, max_size=2)
    several: list[dict[str, st.SearchStrategy[Any]]] = [
        {"properties": named, "additionalProperties": schemas},
        {"properties": named, "patternProperties": st.fixed_dictionaries({"^b": schemas})},
        {"prefixItems": listed, "items": schemas},
        {"allOf": listed},
        {"anyOf": listed},
        {"oneOf": listed},
        {"if": schemas, "then": schemas, "else": schemas},
        {"dependentSchemas": named, "propertyNames": schemas, "not": schemas},
    ]
    return st.one_of([st.fixed_dictionaries(keywords) for keywords in several])


values = st.recursive(
    st.sampled_from(["a", 1, 3]),
    lambda inner: st.dictionaries(st.sampled_from("abc"), inner) | st.lists(inner),
    max_leaves=6,
)


@given(st.recursive(plain, larger, max_leaves=6), values)
def test_the_places_are_those_that_the_engine_finds(schema: Any, value: JsonValue) -> None:
    looping: Schema = {"allOf": [schema], "$defs": {"loop": {"$ref": "#"}}, "properties": {"loop": {"$ref": "#"}}}
    check = compile_schema(looping)
    assert check is not None
    places = {place("input", error.instance_path) for error in build(looping).iter_errors(value)}
    assert {problem.where for problem in check.problems(value, "input", limit=100)} == places
