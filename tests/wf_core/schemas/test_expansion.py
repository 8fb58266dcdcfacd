"""How often a schema asks about one value, once every reference is followed."""

import json
from typing import Any

import pytest

from wf_core.schemas import schema_issues
from wf_core.schemas.expansion import Graph, tangle
from wf_core.schemas.faults import schemas_in

Schema = dict[str, Any]


def chain(levels: int, level: str) -> Schema:
    """Give a schema of definitions that each are `level`, in which ~ stands for a reference to the one before."""
    definitions: Schema = {"d0": {"type": "integer"}}
    for n in range(1, levels + 1):
        definitions[f"d{n}"] = json.loads(level.replace("~", f'{{"$ref": "#/$defs/d{n - 1}"}}'))
    return {"$defs": definitions, "$ref": f"#/$defs/d{levels}"}


@pytest.mark.parametrize(
    "level",
    [
        '{"allOf": [~, ~]}',
        '{"anyOf": [~, ~]}',
        '{"if": ~, "else": ~}',
        '{"allOf": [{"properties": {"a": ~}}, {"properties": {"a": ~}}]}',
        '{"properties": {"a": ~}, "additionalProperties": ~}',
        '{"dependentSchemas": {"a": ~, "b": ~}}',
        '{"allOf": [~], "unevaluatedProperties": false}',
    ],
)
def test_references_that_multiply_are_refused_at_once(level: str) -> None:
    issues = schema_issues(chain(39, level))

    assert [issue.code for issue in issues] == ["invalid_schema"]
    assert "10000 times about one value" in issues[0].message


def test_a_chain_too_long_to_follow_is_refused() -> None:
    assert schema_issues(chain(10_001, '{"allOf": [~]}'))


def test_names_and_places_outside_the_keywords_are_followed_too() -> None:
    by_anchor: Schema = {f"d{n}": {"$anchor": f"d{n}", "allOf": [{"$ref": f"#d{n - 1}"}] * 2} for n in range(1, 39)}
    by_id: Schema = {f"d{n}": {"$id": f"d{n}", "allOf": [{"$ref": f"d{n - 1}"}] * 2} for n in range(1, 39)}
    elsewhere = {f"d{n}": {"allOf": [{"$ref": f"#/parts/d{n - 1}"}] * 2} for n in range(1, 39)}

    assert schema_issues({"$defs": {"d0": {"$anchor": "d0"}, **by_anchor}, "$ref": "#d38"})
    assert schema_issues({"$defs": {"d0": {"$id": "d0"}, **by_id}, "$ref": "d38"})
    assert schema_issues({"parts": {"d0": {}, **elsewhere}, "$ref": "#/parts/d38"})


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"not": {"$ref": "#"}},
        {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"allOf": [{"$ref": "#/$defs/a"}]}}},
    ],
)
def test_a_loop_that_does_not_go_into_the_value_is_refused(schema: Schema) -> None:
    assert "refers back to itself" in schema_issues(schema)[0].message


@pytest.mark.parametrize(
    "schema",
    [
        chain(300, '{"properties": {"a": ~, "b": ~}}'),
        chain(39, '{"type": "array", "items": ~}'),
        {"properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}},
        {
            "$defs": {
                "and": {"properties": {"of": {"type": "array", "items": {"$ref": "#/$defs/any"}}}},
                "or": {"properties": {"of": {"type": "array", "items": {"$ref": "#/$defs/any"}}}},
                "any": {"oneOf": [{"$ref": "#/$defs/and"}, {"$ref": "#/$defs/or"}]},
            },
            "$ref": "#/$defs/any",
        },
        {"properties": {f"p{n}": {"anyOf": [{"type": "string"}, {"type": "null"}]} for n in range(2_000)}},
    ],
)
def test_wide_deep_and_recursive_schemas_of_data_are_taken(schema: Schema) -> None:
    assert schema_issues(schema) == []


@pytest.mark.parametrize(
    ("schema", "places"),
    [
        ({"properties": {"a": {"type": "string"}}}, None),
        (chain(5, '{"allOf": [{"properties": {"a": ~}}, {"properties": {"a": ~}}]}'), None),
        (chain(9, '{"allOf": [{"properties": {"a": ~}}, {"properties": {"a": ~}}]}'), 47),
        ({"items": {"$ref": "#"}}, 2),
        ({"$ref": "#/parts/a", "parts": {"a": {"items": {"$ref": "#/parts/a"}}}}, 3),
    ],
)
def test_a_schema_that_leads_back_or_branches_often_gives_the_places_it_leads_to(
    schema: Schema, places: int | None
) -> None:
    found = tangle(Graph(schema, dict(schemas_in(schema))), "")
    assert (found and len(found)) == places
