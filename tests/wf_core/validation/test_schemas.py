"""What a plan's schemas say about paths."""

from typing import Any

import pytest

from tests.wf_core.validation.plans import ask, errors, plan
from wf_core.validation.schemas import Gap, always_there, array_on_the_way, first_gap, reducer_at, schemas_at

CLOSED = {"type": "object", "properties": {"x": {"type": "object"}}, "additionalProperties": False}


def test_invalid_schema_is_reported_at_its_keyword() -> None:
    for name in ("input_schema", "state_schema", "output_schema"):
        document = plan(**{name: {"properties": {"a": {"type": "strin"}}}})
        assert errors(document) == [("invalid_schema", f"/{name}/properties/a/type")]


def test_invalid_schema_in_an_interrupt() -> None:
    step = ask(
        request_schema={"type": 1}, resume_schema={"type": 2}, outcome_schemas={"submitted": {"pattern": "(?=a)"}}
    )
    found = errors(plan(steps={"one": step}))
    assert [code for code, _ in found] == ["invalid_schema"] * 3
    assert [path.split("/")[3] for _, path in found] == ["request_schema", "resume_schema", "outcome_schemas"]


def test_remote_ref_is_refused() -> None:
    document = plan(input_schema={"properties": {"a": {"$ref": "https://example.com/schema.json"}}})
    assert [code for code, _ in errors(document)] == ["remote_ref"]


def test_unknown_reducer_is_found_at_every_depth() -> None:
    inner = {"type": "object", "properties": {"b": {"reducer": "concat"}}}
    document = plan(state_schema={"properties": {"a": inner, "c": {"reducer": 1}, "reducer": {"reducer": "add"}}})
    assert set(errors(document)) == {
        ("unknown_reducer", "/state_schema/properties/a/properties/b/reducer"),
        ("unknown_reducer", "/state_schema/properties/c/reducer"),
    }


@pytest.mark.parametrize(
    ("path", "reducer"),
    [
        (("a",), "append"),
        (("a", "b"), "max"),
        (("a", "c"), "replace"),
        (("z",), "replace"),
        (("a", "b", "c"), "replace"),
    ],
)
def test_a_reducer_belongs_to_exactly_its_path(path: tuple[str, ...], reducer: str) -> None:
    schema = {"properties": {"a": {"reducer": "append", "properties": {"b": {"reducer": "max"}}}}}
    assert reducer_at(schema, path) == reducer


@pytest.mark.parametrize(
    ("schema", "path"),
    [
        (True, ("a",)),
        ({}, ("a", "b")),
        ({"properties": {"x": {}}}, ("y",)),
        (CLOSED, ("x", "anything")),
        ({**CLOSED, "patternProperties": {"^y": {}}}, ("y",)),
        ({"type": "array", "items": CLOSED}, ("0", "x")),
        ({"additionalProperties": False}, ("0",)),
        ({"anyOf": [CLOSED]}, ("y",)),
        ({"$ref": "#/$defs/absent"}, ("y",)),
        ({"$ref": "#"}, ("y",)),
        ({"properties": "wrong", "required": "wrong", "allOf": "wrong"}, ("y",)),
    ],
)
def test_a_path_that_a_schema_does_not_close_may_exist(schema: Any, path: tuple[str, ...]) -> None:
    assert first_gap(schema, path) is None


@pytest.mark.parametrize(
    ("schema", "path", "position"),
    [
        (CLOSED, ("y",), 0),
        (CLOSED, ("0",), 0),
        ({"properties": {"a": CLOSED}}, ("a", "y", "z"), 1),
        ({"type": "array", "items": CLOSED}, ("7", "y"), 1),
        ({"type": "array", "prefixItems": [CLOSED, {}]}, ("0", "y"), 1),
        ({"additionalProperties": CLOSED}, ("any", "y"), 1),
        ({"allOf": [{}, CLOSED]}, ("y",), 0),
        ({"$ref": "#/$defs/closed", "$defs": {"closed": CLOSED}}, ("y",), 0),
        ({"properties": {"a": {"$ref": "#/$defs/a~1b"}}, "$defs": {"a/b": CLOSED}}, ("a", "y"), 1),
    ],
)
def test_a_path_into_a_closed_schema_must_exist_there(schema: Any, path: tuple[str, ...], position: int) -> None:
    assert first_gap(schema, path) == Gap(position, ("x",))


def test_a_schema_that_refers_to_itself_is_followed_as_far_as_the_path() -> None:
    tree = {"properties": {"next": {"$ref": "#"}}, "additionalProperties": False}
    assert first_gap(tree, ("next",) * 50) is None
    assert first_gap(tree, (*("next",) * 50, "y")) == Gap(50, ("next",))


def test_a_path_into_an_array_is_seen_where_the_schema_says_array() -> None:
    schema = {"properties": {"rows": {"type": "array"}, "maybe": {"type": ["array", "object"]}, "open": {}}}
    assert array_on_the_way(schema, ("rows", "0")) == 1
    assert array_on_the_way(schema, ("rows",)) is None
    assert array_on_the_way(schema, ("maybe", "0")) is None
    assert array_on_the_way(schema, ("open", "0")) is None


def test_what_is_said_at_a_path_holds_together() -> None:
    schema = {"allOf": [{"properties": {"a": {"type": "string"}}}], "properties": {"a": {"maxLength": 3}}}
    assert schemas_at(schema, ("a",)) == [{"maxLength": 3}, {"type": "string"}]
    assert schemas_at(schema, ("b",)) == []


def test_a_path_is_always_there_when_every_segment_is_required() -> None:
    schema = {"required": ["a"], "properties": {"a": {"required": ["b"]}}}
    assert always_there(schema, ("a", "b"))
    assert not always_there(schema, ("a", "c"))
    assert always_there(schema, ())
