"""Type hints as pydantic understands them."""

import typing
from typing import Annotated, Any, NotRequired, Optional, cast

import pytest
from pydantic import Field

from wf_core import Outcome
from wf_mcp.sources.python.hints import UnusableFunction, adapter_for, json_schemas, members, read_hints, union_of


class Inner(typing.TypedDict, total=False):
    when: int


class Outer(typing.TypedDict):
    inner: NotRequired[Annotated[list[Inner], Field(min_length=1)]]
    name: "str | None"


class Endless(typing.TypedDict):
    again: "list[Endless]"


def test_typed_dicts_of_the_standard_library_are_taken_at_any_depth() -> None:
    schemas, shared = json_schemas({"x": adapter_for(dict[str, Outer | None])}, "validation")

    assert schemas["x"]["additionalProperties"]["anyOf"][0] == {"$ref": "#/$defs/Outer"}
    assert shared["Outer"]["required"] == ["name"]
    assert shared["Outer"]["properties"]["inner"]["minItems"] == 1
    assert "required" not in shared["Inner"]


def test_a_typed_dict_of_the_standard_library_that_contains_itself_is_refused_with_a_way_out() -> None:
    with pytest.raises(UnusableFunction, match="typing_extensions"):
        adapter_for(Endless)


@pytest.mark.parametrize("hint", [typing.Callable[[int], int], object()])
def test_what_is_no_data_is_refused(hint: Any) -> None:
    with pytest.raises(UnusableFunction):
        json_schemas({"x": adapter_for(hint)}, "validation")


def test_names_that_exist_only_for_the_type_checker_are_refused_by_name() -> None:
    def function(a: "Missing") -> None: ...  # noqa: F821  # pyright: ignore[reportUndefinedVariable, reportUnknownParameterType]

    with pytest.raises(UnusableFunction, match="'Missing'"):
        read_hints(cast("Any", function))


def test_unions_come_apart_and_together() -> None:
    assert members(Optional[int]) == (int, type(None))  # noqa: UP045  # a form of its own
    assert members(Annotated[int | Outcome, "note"]) == (int, Outcome)
    assert members(int) == (int,)
    assert union_of([int, type(None)]) == int | None
