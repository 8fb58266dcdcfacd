"""Expressions and output maps as their authors write them."""

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from wf_core.plan.bindings import (
    ArrayExpression,
    Expression,
    ObjectExpression,
    OptionalSource,
    OutputMap,
    PathExpression,
    TemplateExpression,
    ValueExpression,
)

EXPRESSION: TypeAdapter[Any] = TypeAdapter(Expression)


@pytest.mark.parametrize(
    ("document", "record"),
    [
        ({"path": "state.a"}, PathExpression(path="state.a")),
        ({"value": {"path": "state.a"}}, ValueExpression(value={"path": "state.a"})),
        ({"object": {"k": {"value": 1}}}, ObjectExpression(object={"k": ValueExpression(value=1)})),
        ({"array": [{"value": 1}]}, ArrayExpression(array=[ValueExpression(value=1)])),
        ({"template": "{{state.a}}"}, TemplateExpression(template="{{state.a}}")),
    ],
)
def test_the_key_says_which_expression_it_is(document: object, record: object) -> None:
    assert EXPRESSION.validate_python(document) == record


@pytest.mark.parametrize("document", ["state.a", 1, None, True, [], {}, {"pth": "state.a"}, {"path": "a", "value": 1}])
def test_anything_else_is_no_expression(document: object) -> None:
    with pytest.raises(ValidationError):
        EXPRESSION.validate_python(document)


def test_a_default_of_null_is_a_default() -> None:
    assert PathExpression.model_validate({"path": "state.a", "default": None}).has_default
    assert not PathExpression.model_validate({"path": "state.a"}).has_default


def test_a_source_is_a_path_or_says_that_it_may_be_missing() -> None:
    entries = TypeAdapter[OutputMap](OutputMap).validate_python(
        {"state.a": "x", "state.b": {"source": "y", "optional": True}, "state.c": {"source": "z"}}
    )
    assert entries == {
        "state.a": "x",
        "state.b": OptionalSource(source="y", optional=True),
        "state.c": OptionalSource(source="z", optional=False),
    }


def test_an_expression_is_no_source() -> None:
    with pytest.raises(ValidationError):
        TypeAdapter[OutputMap](OutputMap).validate_python({"state.a": {"path": "x"}})
