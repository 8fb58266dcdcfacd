"""How the validator is set up, and how its errors read."""

import time

import jsonschema_rs
import pytest

from wf_core.jsonvalue import JsonValue
from wf_core.schemas.engine import build, build_inside, build_places, describe, shown


def error_of(schema: dict[str, object], value: object) -> jsonschema_rs.ValidationError:
    (error,) = build(schema).iter_errors(value)
    return error


@pytest.mark.parametrize("address", ["http://example.com/x", "file:///etc/passwd", "other.json"])
def test_references_out_of_the_document_do_not_build(address: str) -> None:
    with pytest.raises(jsonschema_rs.ValidationError, match="not present in a registry"):
        build({"$ref": address})


def test_formats_only_annotate() -> None:
    assert build({"format": "ipv4"}).is_valid("no address")


def test_alternatives_are_described_one_by_one() -> None:
    error = error_of({"anyOf": [{"type": "string"}, {"items": {"type": "integer"}}]}, ["x"])
    assert describe(error) == (
        '["x"] fits none of the alternatives: ["x"] is not of type "string"; [0]: "x" is not of type "integer"'
    )


def test_a_long_enumeration_is_shortened() -> None:
    described = describe(error_of({"enum": list(range(10_000))}, "x"))
    assert described.startswith('"x" is none of 0, 1, 2')
    assert len(described) < 300


def test_values_are_shown_as_json_and_not_for_ever() -> None:
    assert shown({"a": [None, "é"]}) == '{"a":[null,"é"]}'
    assert len(shown("x" * 10_000)) < 300


WORDS: dict[str, JsonValue] = {"$defs": {"a/b é": {"type": "string"}}, "items": {"$ref": "#/$defs/a~1b%20%C3%A9"}}


def test_schemas_inside_a_document_are_compiled_where_they_stand() -> None:
    assert build_inside(WORDS, ("$defs", "a/b é")).is_valid("x")
    assert not build_inside(WORDS, ("items",)).is_valid(1)
    with pytest.raises(ValueError, match="c"):
        build_inside(WORDS, ("$defs", "c"))


def test_many_places_of_a_document_are_compiled_at_once() -> None:
    judge = build_places(WORDS, ["", "/$defs/a~1b é", "/items"])
    assert judge.is_valid({"": ["x"], "/$defs/a~1b é": "x", "/items": "x"})
    for place in ("/$defs/a~1b é", "/items"):
        assert not judge.is_valid({place: 1})
    assert not judge.is_valid({"": [1]})


def test_a_schema_in_a_large_document_is_compiled_in_little_time() -> None:
    """Compiling every schema of the document took a minute, and the square of its length."""
    definitions: dict[str, JsonValue] = {
        f"d{number}": {"properties": {key: {"$ref": f"#/$defs/d{number * step % 1500}"} for key, step in STEPS.items()}}
        for number in range(1500)
    }
    begun = time.perf_counter()
    assert build_inside({"$defs": definitions}, ("$defs", "d7")).is_valid({"a": {}})
    assert time.perf_counter() - begun < 5


STEPS = {"a": 1, "b": 7}
