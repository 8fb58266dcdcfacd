"""The input schema of a function, and its arguments from an input."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from wf_core import CallContext
from wf_core.schemas import compile_schema, schema_issues
from wf_mcp.sources.errors import CallFailed
from wf_mcp.sources.python.hints import UnusableFunction, read_hints
from wf_mcp.sources.python.parameters import Parameters, read_parameters


@dataclass
class Point:
    x: int
    y: int = 0


class Customer(BaseModel):
    name: str
    born: date | None = None


def parameters_of(function: Any) -> Parameters:
    parameters = read_parameters(function, read_hints(function))
    assert schema_issues(parameters.schema) == []
    return parameters


def properties_of(function: Any) -> dict[str, Any]:
    schema = parameters_of(function).schema
    assert isinstance(schema, dict)
    return schema["properties"]


def called(function: Any, input: dict[str, Any], context: CallContext) -> Any:
    positional, named = parameters_of(function).arguments(input, context)
    return function(*positional, **named)


def test_defaults_make_parameters_optional_and_nothing_else_does() -> None:
    def function(a: int, b: str | None, c: str = "x", *, d: Any = None) -> None: ...

    schema = parameters_of(function).schema

    assert schema == {
        "type": "object",
        "properties": {
            "a": {"type": "integer"},
            "b": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "c": {"type": "string", "default": "x"},
            "d": {"default": None},
        },
        "required": ["a", "b"],
        "additionalProperties": False,
    }


def test_a_default_that_is_no_json_is_not_shown() -> None:
    def function(a: float = float("nan"), b: Point = Point(1)) -> None: ...  # noqa: B008

    assert "default" not in properties_of(function)["a"]


def test_values_arrive_as_the_hints_say(context: CallContext) -> None:
    def function(p: Point, c: Customer, m: Decimal, s: set[int], when: date, mode: Literal["a", "b"]) -> Any:
        return p, c, m, s, when, mode

    given = {
        "p": {"x": 1},
        "c": {"name": "Ada", "born": "1815-12-10"},
        "m": "1.10",
        "s": [1, 2],
        "when": "2026-01-02",
        "mode": "b",
    }
    check = compile_schema(parameters_of(function).schema)

    assert check is not None
    assert check.accepts(given)
    assert called(function, given, context) == (
        Point(1),
        Customer(name="Ada", born=date(1815, 12, 10)),
        Decimal("1.10"),
        {1, 2},
        date(2026, 1, 2),
        "b",
    )


def test_constraints_and_descriptions_are_part_of_the_schema() -> None:
    def function(n: Annotated[int, Field(ge=1, description="How many")]) -> None: ...

    assert properties_of(function) == {"n": {"type": "integer", "minimum": 1, "description": "How many"}}


def test_the_context_is_injected_and_no_part_of_the_input(context: CallContext) -> None:
    def function(a: int, /, b: int, ctx: CallContext, other: CallContext | None = None) -> Any:
        return a, b, ctx, other

    assert list(properties_of(function)) == ["a", "b"]
    assert called(function, {"a": 1, "b": 2}, context) == (1, 2, context, context)


def test_the_function_gets_a_copy(context: CallContext) -> None:
    def function(items: list[Any], data: dict[str, Any]) -> None:
        items.append(1)
        data["k"]["l"] = 1

    given: dict[str, Any] = {"items": [], "data": {"k": {}}}
    called(function, given, context)

    assert given == {"items": [], "data": {"k": {}}}


def test_an_input_that_does_not_fit_is_refused_with_its_place(context: CallContext) -> None:
    def function(points: list[Point]) -> None: ...

    with pytest.raises(CallFailed, match=r"points\[1\]\.x") as refused:
        called(function, {"points": [{"x": 1}, {"x": "sesame-street"}]}, context)
    assert (refused.value.code, refused.value.executed) == ("input_invalid", False)
    assert "sesame" not in refused.value.message

    with pytest.raises(CallFailed, match="no parameter 'other'"):
        called(function, {"points": [], "other": 1}, context)


def test_a_parameter_may_be_called_anything(context: CallContext) -> None:
    def function(json: int, schema: int, _private: int, model_config: int) -> Any:
        return json, schema, _private, model_config

    given = {"json": 1, "schema": 2, "_private": 3, "model_config": 4}
    assert called(function, given, context) == (1, 2, 3, 4)


def test_parameters_without_names_have_no_contract() -> None:
    def listing(*items: int) -> None: ...
    def naming(**items: int) -> None: ...

    with pytest.raises(UnusableFunction, match=r"takes \*items"):
        parameters_of(listing)
    with pytest.raises(UnusableFunction, match=r"takes \*\*items"):
        parameters_of(naming)
