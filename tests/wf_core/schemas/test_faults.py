"""What makes a schema unusable, everything at once and each with its place."""

import socket
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import json_values
from wf_core.errors import InvalidSchema
from wf_core.jsonvalue import JsonValue
from wf_core.schemas import SchemaIssue, compile_schema, schema_issues

DRAFT_4 = "http://json-schema.org/draft-04/schema#"
DRAFT_7 = "http://json-schema.org/draft-07/schema#"


def found(schema: object) -> set[tuple[str, str]]:
    return {(issue.pointer, issue.code) for issue in schema_issues(schema)}


@pytest.mark.parametrize(
    "schema",
    [
        True,
        False,
        {},
        {"type": "array", "default": [], "reducer": "append"},
        {"const": {"$ref": "http://example.com/x"}},
        {"default": {"pattern": "(?=a)"}},
        {"properties": {"$ref": {"type": "string"}, "pattern": {"type": "string"}, "$id": {"type": "string"}}},
        {"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}},
        {"$ref": "#/$defs/first%20name", "$defs": {"first name": {}}},
        {"$ref": "#a", "$defs": {"x": {"$anchor": "a"}}},
        {"$dynamicRef": "#a", "$defs": {"x": {"$dynamicAnchor": "a"}}},
        {
            "$id": "http://example.com/root",
            "$ref": "part",
            "$defs": {"a": {"$id": "part", "$ref": "root#/$defs/b"}, "b": {}},
        },
        {"$id": "person", "$ref": "name#", "$defs": {"a": {"$id": "name"}}},
        {"$id": "urn:example:a", "$ref": "urn:example:b", "$defs": {"b": {"$id": "urn:example:b"}}},
        {"$schema": DRAFT_7, "definitions": {"a": {"$id": "#here"}}, "items": [{"$ref": "#here"}]},
        {"$schema": DRAFT_4, "id": "http://example.com/a", "properties": {"b": {"id": "b"}, "c": {"$ref": "b"}}},
        {"$schema": "https://json-schema.org/draft/2020-12/schema#"},
    ],
)
def test_usable_schemas_have_no_issues(schema: Any) -> None:
    assert schema_issues(schema) == []
    compile_schema(schema)


@pytest.mark.parametrize(
    ("schema", "pointer"),
    [
        (3, ""),
        ([], ""),
        (None, ""),
        ({"type": "objekt"}, "/type"),
        ({"properties": {"a/b": {"minLength": -1}}}, "/properties/a~1b/minLength"),
        ({"properties": {"a": 4}}, "/properties/a"),
        ({"required": "a"}, "/required"),
        ({"$schema": "http://example.com/mine"}, "/$schema"),
        ({"$schema": 4}, "/$schema"),
        ({"$schema": DRAFT_4, "type": "objekt"}, "/type"),
        ({"$ref": "#/$defs/none"}, "/$ref"),
        ({"items": {"$ref": "#none"}}, "/items/$ref"),
        ({"$dynamicRef": "#none"}, "/$dynamicRef"),
        ({"items": {"pattern": "(a"}}, "/items/pattern"),
        ({"patternProperties": {"(?!a)": {}}}, "/patternProperties/(?!a)"),
        ({"if": {"pattern": r"(a)\1"}}, "/if/pattern"),
        ({"allOf": [{}, {"pattern": "(?<=a)b"}]}, "/allOf/1/pattern"),
        ({"dependentSchemas": {"a": {"pattern": "("}}}, "/dependentSchemas/a/pattern"),
        ({"pattern": r"(\d{1000}){1000}"}, "/pattern"),
        ({"default": float("nan")}, ""),
    ],
)
def test_each_fault_is_an_invalid_schema_at_its_place(schema: object, pointer: str) -> None:
    assert found(schema) == {(pointer, "invalid_schema")}


@pytest.mark.parametrize(
    "reference",
    [
        "http://example.com/schema.json",
        "https://json-schema.org/draft/2020-12/schema",
        "file:///etc/passwd",
        "file:///etc/passwd#/a",
        "other.json",
        "other.json#/a",
        "/other",
        "//example.com/x",
        "../x",
        "urn:example:other",
    ],
)
@pytest.mark.parametrize("keyword", ["$ref", "$dynamicRef"])
def test_references_out_of_the_document_are_remote(keyword: str, reference: str) -> None:
    schema = {"properties": {"first name": {keyword: reference}}}
    assert found(schema) == {(f"/properties/first name/{keyword}", "remote_ref")}


@pytest.mark.parametrize("key", ["a b", "é", "%", "~", "/", "", "#", "?", "a%20b", "\x00", "$id"])
def test_references_are_found_below_any_key(key: str) -> None:
    schema = {"properties": {key: {"$id": "http://example.com/inner", "items": {"$ref": "outer"}}}}
    (issue,) = schema_issues(schema)
    assert issue.code == "remote_ref"


def test_everything_is_reported_at_once() -> None:
    schema = {
        "type": "objekt",
        "required": "a",
        "properties": {"a": {"pattern": "("}, "b": {"$ref": "http://example.com/x"}, "c": {"$ref": "#/none"}},
    }
    assert found(schema) == {
        ("/type", "invalid_schema"),
        ("/required", "invalid_schema"),
        ("/properties/a/pattern", "invalid_schema"),
        ("/properties/b/$ref", "remote_ref"),
        ("/properties/c/$ref", "invalid_schema"),
    }


def test_messages_say_what_may_be_written() -> None:
    (issue,) = schema_issues({"type": "objekt"})
    assert '"array", "boolean", "integer", "null", "number", "object", "string"' in issue.message
    assert schema_issues({"pattern": "(?=a)"}) == [
        SchemaIssue(
            "/pattern",
            "invalid_schema",
            '"(?=a)" needs look-around or back-references, which cannot be matched in linear time.',
        )
    ]


@pytest.mark.parametrize("schema", [{"$id": "not %% an address", "$ref": "#"}, {"$id": "urn:a:b", "$ref": "relative"}])
def test_addresses_that_cannot_be_understood_are_named(schema: object) -> None:
    (issue,) = schema_issues(schema)
    assert "%%" in issue.message or "relative" in issue.message


def test_an_address_that_is_none_does_not_hide_other_faults() -> None:
    schema = {"items": {"$id": "^a", "items": {"$ref": "#/none"}}, "not": {"$id": "^b"}, "pattern": "("}
    assert ("/pattern", "invalid_schema") in found(schema)
    assert len(schema_issues(schema)) > 1


def test_nothing_is_ever_fetched(tmp_path: Path) -> None:
    """A file that exists stays unread, and a server that listens is not called."""
    (tmp_path / "schema.json").write_text('{"type": "string"}', encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        port = server.getsockname()[1]
        for address in (f"http://127.0.0.1:{port}/schema.json", (tmp_path / "schema.json").as_uri()):
            assert found({"$ref": address}) == {("/$ref", "remote_ref")}
            with pytest.raises(InvalidSchema):
                compile_schema({"$ref": address})
        with pytest.raises(BlockingIOError):
            server.accept()


schemas = st.recursive(
    json_values | st.sampled_from(["string", "array", "#", "#/$defs/a", "a", "^a", "(", "http://example.com/a"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["$defs", "$id", "$ref", "a", "allOf", "enum", "if", "items", "minimum", "pattern", "properties"]
            )
            | st.sampled_from(["required", "type"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)


@given(st.dictionaries(st.sampled_from(["$defs", "$ref", "items", "not", "properties", "type"]), schemas))
def test_a_schema_without_issues_compiles(schema: dict[str, Any]) -> None:
    if not schema_issues(schema):
        compile_schema(schema)


@given(schemas)
def test_any_value_can_be_asked_whether_it_is_a_schema(schema: JsonValue) -> None:
    for issue in schema_issues(schema):
        assert issue.message
        assert not issue.pointer or issue.pointer.startswith("/")


def test_a_deep_schema_is_read_and_one_too_deep_refused() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(60):
        schema = {"properties": {"a": schema}}
    assert schema_issues(schema) == []
    for _ in range(60):
        schema = {"properties": {"a": schema}}
    (issue,) = schema_issues(schema)
    assert "deeper than" in issue.message
