"""The output schema of a function, and outputs from what it returned."""

import typing
from collections import OrderedDict
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum, IntEnum
from typing import Any, Generic, NotRequired, TypeVar
from uuid import UUID

import pytest
import typing_extensions
from pydantic import BaseModel, Field

from wf_core import Outcome
from wf_core.schemas import compile_schema, schema_issues
from wf_mcp.config import Redactor
from wf_mcp.sources.boundary import take_in
from wf_mcp.sources.errors import CallFailed
from wf_mcp.sources.python.returns import read_returns

T = TypeVar("T")
WHEN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


class Colour(Enum):
    RED = "red"


class Level(IntEnum):
    HIGH = 3


@dataclass
class Point:
    x: int
    extra: Any = None


class Note(BaseModel):
    at: datetime
    data: Any = None
    more: dict[str, Any] = {}
    renamed: int = Field(default=1, serialization_alias="as")


class Box(BaseModel, Generic[T]):
    item: T


class Old(typing.TypedDict):
    a: int
    b: NotRequired[datetime]


class Partial(Old, total=False):
    c: list[Old]


class Modern(typing_extensions.TypedDict):
    a: int
    tree: "NotRequired[Modern]"


def output_of(hint: Any, value: Any) -> Any:
    """Give the output, having seen that it fits the schema made from the hint."""
    returns = read_returns(hint)
    assert schema_issues(returns.schema) == []
    output = take_in(returns.output(value), Redactor())
    check = compile_schema(returns.schema)
    assert check is None or check.accepts(output)
    return output


def fault_of(hint: Any, value: Any) -> str:
    with pytest.raises(CallFailed) as refused:
        output_of(hint, value)
    assert (refused.value.code, refused.value.executed) == ("output_invalid", True)
    return refused.value.message


@pytest.mark.parametrize(
    ("hint", "value", "output"),
    [
        (dict, {"a": 1}, {"a": 1}),
        (dict[str, int], {"a": 1}, {"a": 1}),
        (Point, Point(1, [2]), {"x": 1, "extra": [2]}),
        (Note, Note(at=WHEN), {"at": "2026-01-02T03:04:05Z", "data": None, "more": {}, "as": 1}),
        (Note, {"at": WHEN}, {"at": "2026-01-02T03:04:05Z", "data": None, "more": {}, "as": 1}),
        (Box[int], Box(item=3), {"item": 3}),
        (Old, {"a": 1, "b": WHEN}, {"a": 1, "b": "2026-01-02T03:04:05Z"}),
        (Partial, {"a": 1, "c": [{"a": 2}]}, {"a": 1, "c": [{"a": 2}]}),
        (Modern, {"a": 1, "tree": {"a": 2}}, {"a": 1, "tree": {"a": 2}}),
        (Old | Point, Point(1), {"x": 1, "extra": None}),
        (dict | Outcome, {"a": 1}, {"a": 1}),
    ],
)
def test_an_object_is_the_output_as_it_is(hint: Any, value: Any, output: Any) -> None:
    assert output_of(hint, value) == output


@pytest.mark.parametrize(
    ("hint", "value", "result"),
    [
        (int, 3, 3),
        (int, 10**40, 10**40),
        (float, 1.0, 1.0),
        (float, 2, 2.0),
        (bool, True, True),
        (None, None, None),
        (str, "ä", "ä"),
        (list[Point], [Point(1)], [{"x": 1, "extra": None}]),
        (list[Old], [{"a": 1}], [{"a": 1}]),
        (list[Old | None], [{"a": 1}, None], [{"a": 1}, None]),
        (tuple[int, str], (1, "a"), [1, "a"]),
        (set[int], {1}, [1]),
        (dict[str, int] | None, None, None),
        (datetime, WHEN, "2026-01-02T03:04:05Z"),
        (Decimal, Decimal("1.10"), "1.10"),
        (UUID, UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (bytes, b"abc", "abc"),
        (Colour, Colour.RED, "red"),
        (Level, Level.HIGH, 3),
    ],
)
def test_anything_else_is_wrapped_as_result(hint: Any, value: Any, result: Any) -> None:
    output = output_of(hint, value)

    assert output == {"result": result}
    assert type(output["result"]) is type(result)


@pytest.mark.parametrize("hint", [Any, object, Outcome, int | Outcome | Any])
def test_without_a_telling_hint_only_objects_are_left_as_they_are(hint: Any) -> None:
    assert output_of(hint, {"a": 1}) == {"a": 1}
    assert output_of(hint, [1]) == {"result": [1]}
    assert read_returns(hint).schema == {}


@pytest.mark.parametrize(
    ("hint", "value"),
    [
        (int, "3"),
        (int, True),
        (int, None),
        (str, 3),
        (dict[str, int], {"a": "b"}),
        (dict, [1]),
        (Old, {"b": WHEN}),
        (Old, {"a": 1, "undeclared": 2}),
        (Note, {"at": WHEN, "undeclared": 2}),
        (datetime, "2026-01-02"),
        (list[int], (1,)),
        (Point, Point(typing.cast("int", "one"))),
    ],
)
def test_what_does_not_fit_the_hint_is_refused_not_converted(hint: Any, value: Any) -> None:
    assert "The result does not fit" in fault_of(hint, value)


ODD_VALUES: list[Any] = [
    WHEN,
    date(2026, 1, 2),
    Decimal(1),
    b"x",
    {1},
    (1,),
    float("nan"),
    float("inf"),
    "\ud800",
    {1: 2},
    {None: 1},
    Level.HIGH,
    Colour.RED,
    OrderedDict(a=1),
    Point(1),
    object(),
    1j,
]


@pytest.mark.parametrize("odd", ODD_VALUES)
def test_undeclared_parts_are_json_or_refused_with_their_place(odd: Any) -> None:
    assert "output.items[1]" in fault_of(dict, {"items": [0, odd]})
    assert "output.items[1].k" in fault_of(dict[str, Any], {"items": [0, {"k": odd}]})
    assert "output.result[0]" in fault_of(list, [odd])
    assert "output.extra.k" in fault_of(Point, Point(1, {"k": odd}))
    assert "output.item.data" in fault_of(Box[Note], Box(item=Note(at=WHEN, data=odd)))
    assert "output.more.k" in fault_of(Note, Note(at=WHEN, more={"k": odd}))
    assert "output.items[1]" in fault_of(Any, {"items": [0, odd]})


def test_keys_that_are_no_text_are_refused() -> None:
    assert "output: " in fault_of(dict, {1: 2})
    assert "output: " in fault_of(Any, {1: 2})
    assert output_of(dict[int, int], {1: 2}) == {"1": 2}


def test_declared_numbers_are_finite_in_the_end() -> None:
    assert "output.result" in fault_of(float, float("nan"))
    assert "output.item" in fault_of(Box[float], Box(item=float("inf")))


def test_a_cycle_is_refused() -> None:
    loop: dict[str, Any] = {}
    loop["self"] = [loop]
    assert "output" in fault_of(dict, loop)
    assert "output" in fault_of(Any, loop)
