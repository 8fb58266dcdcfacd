"""Schemas as questions about values."""

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import json_values
from wf_core.errors import InvalidSchema
from wf_core.jsonvalue import JsonSchema, JsonValue
from wf_core.schemas import Check, Problem, compile_element, compile_schema

DRAFT_7 = "http://json-schema.org/draft-07/schema#"


def compiled(schema: JsonSchema) -> Check:
    check = compile_schema(schema)
    assert check is not None
    return check


@pytest.mark.parametrize(
    "schema", [True, {}, {"title": "Anything", "default": 1, "format": "date", "reducer": "append"}]
)
def test_a_schema_that_accepts_everything_leaves_nothing_to_ask(schema: JsonSchema) -> None:
    assert compile_schema(schema) is None


ACCEPTED: list[tuple[JsonSchema, JsonValue]] = [
    ({"type": "integer"}, 1.0),
    ({"type": "integer"}, 2**64),
    ({"type": "integer"}, -(10**400)),
    ({"minimum": 2**70}, 2**70),
    ({"multipleOf": 3}, 3 * 2**70),
    ({"const": 2**70 + 1}, 2**70 + 1),
    ({"const": 1}, 1.0),
    ({"enum": [[1]]}, [1.0]),
    ({"type": "string", "format": "date"}, "no date"),
    ({"pattern": "b"}, "abc"),
    ({"type": "array", "reducer": "append", "default": []}, [1]),
    ({"$schema": DRAFT_7, "items": [{"type": "string"}]}, ["a", 1]),
    ({"$ref": "#"}, 1),
    ({"allOf": [{"$ref": "#"}]}, 1),
]

REFUSED: list[tuple[JsonSchema, JsonValue]] = [
    (False, None),
    ({"type": "integer"}, 1.5),
    ({"type": "integer"}, True),
    ({"maximum": 10}, 10**400),
    ({"const": 2**70 + 1}, 2**70),
    ({"const": 1}, True),
    ({"const": True}, 1),
    ({"enum": [[True]]}, [1]),
    ({"enum": [0]}, False),
    ({"uniqueItems": True}, [1, 1.0]),
    ({"pattern": "^a$"}, "a\n"),
    ({"$schema": DRAFT_7, "items": [{"type": "string"}]}, [1]),
    ({"prefixItems": [{"type": "string"}]}, [1]),
    ({"$dynamicRef": "#node", "$defs": {"a": {"$dynamicAnchor": "node", "type": "string"}}}, 1),
    ({"$id": "http://example.com/root", "$ref": "part", "$defs": {"a": {"$id": "part", "type": "string"}}}, 1),
    ({"properties": {"child": {"$ref": "#"}}, "type": "object"}, {"child": {"child": 1}}),
]


@pytest.mark.parametrize(("schema", "value"), ACCEPTED)
def test_values_that_fit_are_accepted(schema: JsonSchema, value: JsonValue) -> None:
    check = compiled(schema)
    assert check.accepts(value)
    assert check.problems(value, "input") == []


@pytest.mark.parametrize(("schema", "value"), REFUSED)
def test_values_that_do_not_fit_are_refused(schema: JsonSchema, value: JsonValue) -> None:
    check = compiled(schema)
    assert not check.accepts(value)
    assert check.problems(value, "input")


def test_problems_name_their_places() -> None:
    check = compiled(
        {
            "properties": {"rows": {"items": {"properties": {"first name": {"type": "string"}}, "required": ["id"]}}},
            "additionalProperties": False,
        }
    )
    found = check.problems({"rows": [{"id": 1}, {"first name": 3}], "other": 1}, "state")
    assert sorted(map(str, found)) == [
        'state.rows[1]."first name": 3 is not of type "string"',
        'state.rows[1]: "id" is a required property',
        "state: Additional properties are not allowed ('other' was unexpected)",
    ]


@pytest.mark.parametrize(
    ("schema", "value", "message"),
    [
        ({"enum": ["a", "b", 3]}, "c", '"c" is none of "a", "b", 3'),
        (
            {"anyOf": [{"type": "null"}, {"properties": {"n": {"type": "integer"}}}]},
            {"n": "x"},
            '{"n":"x"} fits none of the alternatives: {"n":"x"} is not of type "null"; n: "x" is not of type "integer"',
        ),
        ({"oneOf": [{"type": "null"}]}, 1, '1 fits none of the alternatives: 1 is not of type "null"'),
        ({"additionalProperties": False}, {"a": 1}, "no properties are allowed here"),
        (False, 1, "1 is not allowed here"),
    ],
)
def test_problems_say_what_was_expected(schema: JsonSchema, value: JsonValue, message: str) -> None:
    assert compiled(schema).problems(value, "input") == [Problem("input", message)]


def test_a_problem_with_a_large_value_stays_short_and_keeps_its_reason() -> None:
    (problem,) = compiled({"type": "object"}).problems(["x" * 100_000], "input")
    assert len(problem.message) < 300
    assert problem.message.endswith('is not of type "object"')


def test_no_more_problems_are_given_than_asked_for() -> None:
    check = compiled({"items": {"type": "string"}})
    value: JsonValue = [1 for _ in range(50)]
    assert len(check.problems(value, "input")) == 10
    assert len(check.problems(value, "input", limit=3)) == 3


@pytest.mark.parametrize(
    ("schema", "named"),
    [
        ({"type": "objekt"}, '/type: "objekt" fits none'),
        ({"properties": {"a": {"$ref": "http://example.com/x"}}}, "/properties/a/$ref"),
        ({"$ref": "file:///etc/passwd"}, "/$ref"),
        ({"pattern": "(?=a)"}, "/pattern"),
        ({"$schema": "http://example.com/mine"}, "/$schema"),
    ],
)
def test_a_schema_that_cannot_be_used_is_refused_naming_the_place(schema: JsonSchema, named: str) -> None:
    with pytest.raises(InvalidSchema) as refused:
        compile_schema(schema)
    assert named in refused.value.message
    assert refused.value.details["issues"]


REFERRING: dict[str, Any] = {
    "properties": {
        "word": {"$ref": "#/definitions/text"},
        "same word": {"$ref": "#/properties/word"},
        "words": {"type": "array", "items": {"$ref": "#/properties/same%20word"}, "maxItems": 2},
        "tree": {"type": "array", "items": {"$ref": "#/properties/tree"}},
        "é/~": {"type": "object", "properties": {"inner": {"$ref": "#/definitions/text"}}},
        "plain": {"type": "string", "title": "Plain"},
        "open": {"title": "Open"},
    },
    "required": ["word"],
    "definitions": {"text": {"type": "string"}},
}


@pytest.mark.parametrize(
    ("at", "fits", "does_not"),
    [
        (("word",), "a", 1),
        (("same word",), "a", 1),
        (("words",), ["a"], [1]),
        (("tree",), [], [1]),
        (("é/~", "properties", "inner"), "a", 1),
        (("plain",), "a", 1),
    ],
)
def test_a_schema_inside_a_document_refers_to_the_document(
    at: tuple[str, ...], fits: JsonValue, does_not: JsonValue
) -> None:
    check = compile_schema(REFERRING, ("properties", *at))
    assert check is not None
    assert check.accepts(fits)
    assert not check.accepts(does_not)


def test_a_schema_inside_a_document_has_the_dialect_of_the_document() -> None:
    document: dict[str, Any] = {"$schema": DRAFT_7, "properties": {"a": {"items": [{"type": "string"}]}}}
    check = compile_schema(document, ("properties", "a"))
    assert check is not None
    assert not check.accepts([1])


def test_a_list_with_a_schema_for_each_position_needs_the_whole_list() -> None:
    document: dict[str, Any] = {"$schema": DRAFT_7, "properties": {"a": {"type": "array", "items": [True]}}}
    assert compile_element(document, ("properties", "a")) is None


def test_an_open_schema_inside_a_document_leaves_nothing_to_ask() -> None:
    assert compile_schema(REFERRING, ("properties", "open")) is None


def test_a_reference_that_leads_nowhere_is_refused_inside_a_document_too() -> None:
    document: dict[str, Any] = {"properties": {"a": {"$ref": "#/none"}, "b": {"type": "string"}}}
    with pytest.raises(InvalidSchema, match=r"/properties/a/\$ref"):
        compile_schema(document, ("properties", "a"))


def test_elements_refer_to_the_document_of_their_list() -> None:
    element = compile_element(REFERRING, ("properties", "words"))
    assert element is not None
    assert element.accepts("a", 1)
    assert not element.accepts(1, 1)
    assert not element.accepts("a", 3)
    tree = compile_element({"type": "array", "items": {"$ref": "#"}})
    assert tree is not None
    assert tree.accepts([[]], 1)
    assert not tree.accepts(1, 1)


def test_a_schema_too_deep_is_refused() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(1000):
        schema = {"items": schema}
    with pytest.raises(InvalidSchema, match="deeper than"):
        compile_schema(schema)


def test_a_pattern_that_would_backtrack_for_ever_takes_no_time() -> None:
    """`(a+)+$` takes exponential time in engines that backtrack: 2**50000 steps, here some milliseconds."""
    check = compiled({"pattern": "^(a+)+$"})
    begun = time.perf_counter()
    assert not check.accepts("a" * 50_000 + "b")
    assert time.perf_counter() - begun < 5


def test_an_element_is_judged_without_its_list() -> None:
    element = compile_element({"type": "array", "items": {"type": "integer"}, "maxItems": 3, "reducer": "append"})
    assert element is not None
    assert element.accepts(7, 3)
    assert not element.accepts("7", 3)
    assert not element.accepts(7, 4)


@pytest.mark.parametrize("schema", [{}, {"type": "array"}, {"items": True}, {"type": "array", "default": []}])
def test_an_open_list_takes_any_element(schema: JsonSchema) -> None:
    element = compile_element(schema)
    assert element is not None
    assert element.accepts(None, 10**9)


@pytest.mark.parametrize(
    "schema",
    [
        True,
        False,
        {"type": "string"},
        {"type": ["array", "null"]},
        {"type": "array", "uniqueItems": True},
        {"type": "array", "contains": {"type": "string"}},
        {"type": "array", "prefixItems": [{"type": "string"}]},
        {"type": "array", "allOf": [True]},
    ],
)
def test_schemas_that_look_at_more_than_one_element_need_the_whole_list(schema: JsonSchema) -> None:
    assert compile_element(schema) is None


@given(st.lists(json_values, max_size=4), json_values, st.integers(0, 3), st.integers(2, 5))
def test_an_accepted_element_keeps_a_valid_list_valid(
    items: list[JsonValue], element: JsonValue, fewest: int, most: int
) -> None:
    schema: dict[str, Any] = {
        "type": "array",
        "items": {"type": ["integer", "string"]},
        "minItems": fewest,
        "maxItems": most,
    }
    by_element = compile_element(schema)
    assert by_element is not None
    whole = compiled(schema)
    if whole.accepts(items):
        assert by_element.accepts(element, len(items) + 1) == whole.accepts([*items, element])
