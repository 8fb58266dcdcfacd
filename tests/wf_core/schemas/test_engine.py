"""How the validator is set up, and how its errors read."""

import jsonschema_rs
import pytest

from wf_core.schemas.engine import build, describe, shown


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
