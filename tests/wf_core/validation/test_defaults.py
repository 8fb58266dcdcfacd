"""What the schemas of a plan's head have to allow."""

from typing import Any

import pytest

from tests.wf_core.validation.plans import Document, plan
from wf_core.validation import Issue, read_plan

TEXT = {"type": "string"}


def found(**fields: Any) -> list[Issue]:
    return [issue for issue in read_plan(plan(**fields)).issues if issue.severity == "error"]


def state(**properties: Any) -> Document:
    return {"type": "object", "properties": {"a": {}, **properties}}


@pytest.mark.parametrize(
    ("field", "place", "told"),
    [
        ({**TEXT, "default": 5}, "/default", "5 is not of type"),
        ({**TEXT, "default": None}, "/default", "null is not of type"),
        ({"type": "array", "items": TEXT, "default": ["x", 5]}, "/default", "default[1]: 5 is not of type"),
        ({"type": "object", "required": ["x"], "default": {}}, "/default", "required property"),
        ({"properties": {"b": {"enum": [1, 2], "default": 3}}}, "/properties/b/default", "3 is none of 1, 2"),
        ({"properties": {"b": {**TEXT, "default": 5}}, "default": {"b": "x"}}, "/properties/b/default", "5 is not"),
        ({"$ref": "#/$defs/count", "default": "x"}, "/default", "is not of type"),
    ],
)
def test_a_default_that_its_own_schema_refuses_is_an_error(field: Document, place: str, told: str) -> None:
    """PLAN_FORMAT: a default is the field's value at the start, and what a field holds fits its schema."""
    [issue] = found(state_schema={**state(s=field), "$defs": {"count": {"type": "integer"}}})
    assert (issue.code, issue.path) == ("invalid_default", f"/state_schema/properties/s{place}")
    assert told in issue.message
    assert issue.hint is not None


@pytest.mark.parametrize(
    "field",
    [
        {**TEXT, "default": "x"},
        {"type": ["string", "null"], "default": None},
        {"default": 5},
        # What nested defaults bring along counts, and what they bring into being may be incomplete.
        {"properties": {"b": {**TEXT, "default": "x"}}, "required": ["b"], "default": {}},
        {
            "properties": {"b": {"properties": {"c": {"default": 1}}, "required": ["c"]}},
            "required": ["b"],
            "default": {},
        },
        {"properties": {"b": {**TEXT, "default": "x"}, "c": TEXT}, "required": ["b", "c"]},
    ],
)
def test_a_default_that_fits_is_none(field: Document) -> None:
    assert found(state_schema=state(s=field)) == []


def test_a_default_of_the_input_is_an_annotation() -> None:
    assert found(input_schema={"properties": {"x": {**TEXT, "default": 5}}}) == []


def test_a_schema_that_cannot_be_used_is_reported_as_that_alone() -> None:
    [issue] = found(state_schema=state(s={"type": "strange", "default": 5}))
    assert issue.code == "invalid_schema"


@pytest.mark.parametrize("name", ["input_schema", "state_schema"])
@pytest.mark.parametrize(
    ("schema", "place", "taken"),
    [
        ({"type": "array"}, "/type", "`array`"),
        ({"type": ["string", "null"]}, "/type", "`null` or `string`"),
        ({"allOf": [{"type": "object"}, {"type": "array"}]}, "", "nothing"),
        (False, "", "nothing"),
        ({"$ref": "#/$defs/list", "$defs": {"list": {"type": "array"}}}, "", "`array`"),
    ],
)
def test_input_and_state_are_objects(name: str, schema: Document | bool, place: str, taken: str) -> None:
    issues = [issue for issue in found(**{name: schema}) if issue.path.startswith(f"/{name}")]
    assert [(issue.code, issue.path) for issue in issues] == [("invalid_type", f"/{name}{place}")]
    assert taken in issues[0].message


@pytest.mark.parametrize("schema", [{}, {"type": ["object", "null"]}, {"properties": {"a": {}}}])
def test_a_schema_that_takes_an_object_among_others_will_do(schema: Document) -> None:
    assert found(input_schema=schema) == []
