"""What each reducer does when a write meets the value that is there."""

import contextlib
import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import json_values
from wf_core.errors import StepFailed
from wf_core.jsonvalue import JsonValue, canonical
from wf_core.paths import MISSING, Missing
from wf_core.plan import REDUCERS
from wf_core.std.reducers import reduce

numbers = st.integers(-(10**6), 10**6)


@pytest.mark.parametrize(
    ("name", "current", "incoming", "result"),
    [
        ("replace", 1, 2, 2),
        ("replace", [1], None, None),
        ("replace", MISSING, {"a": 1}, {"a": 1}),
        ("append", [1], 2, [1, 2]),
        ("append", [1], [2, 3], [1, [2, 3]]),
        ("append", [], None, [None]),
        ("append", MISSING, 1, [1]),
        ("extend", [1], [2, [3]], [1, 2, [3]]),
        ("extend", MISSING, [1], [1]),
        ("add", 1, 2, 3),
        ("add", 2**64, 1, 2**64 + 1),
        ("add", 1, 0.5, 1.5),
        ("add", MISSING, 2.0, 2.0),
        ("max", 1, 3, 3),
        ("max", 3, 1, 3),
        ("max", 2**70, 1.5, 2**70),
        ("max", MISSING, -1, -1),
        ("min", 1, 3, 1),
        ("min", 3.5, 1, 1),
        ("min", MISSING, 9, 9),
        ("merge_object", {"a": 1, "b": {"x": 1}}, {"b": {"y": 2}, "c": 3}, {"a": 1, "b": {"y": 2}, "c": 3}),
        ("merge_object", MISSING, {"a": None}, {"a": None}),
        ("set_union", [3, 1], [1.0, 2, 3], [3, 1, 2]),
        ("set_union", [1, "1", True], [True, 1, False, 0], [1, "1", True, False, 0]),
        ("set_union", MISSING, [{"a": 1, "b": 2}, {"b": 2, "a": 1.0}], [{"a": 1, "b": 2}]),
    ],
)
def test_writes_meet_the_value_that_is_there(
    name: str, current: JsonValue | Missing, incoming: JsonValue, result: JsonValue
) -> None:
    assert repr(reduce(name, current, incoming)) == repr(result)


@pytest.mark.parametrize(
    ("name", "current", "incoming", "reason"),
    [
        ("append", None, 1, "append takes an array, but the value there is null."),
        ("append", {}, 1, "append takes an array, but the value there is an object."),
        ("extend", [1], 2, "extend takes an array, but the incoming value is a number."),
        ("extend", MISSING, "ab", "extend takes an array, but the incoming value is a text."),
        ("add", 1, "2", "add takes a number, but the incoming value is a text."),
        ("add", True, 1, "add takes a number, but the value there is a boolean."),
        ("add", MISSING, None, "add takes a number, but the incoming value is null."),
        ("add", 1.7e308, 1.7e308, "add cannot hold the sum: it is too large a number."),
        ("add", 10**4000, 0.5, "add cannot hold the sum: it is too large a number."),
        ("add", 9 * 10**4299, 9 * 10**4299, "add cannot hold the sum: it is too large a number."),
        ("max", "a", 1, "max takes a number, but the value there is a text."),
        ("min", 1, [1], "min takes a number, but the incoming value is an array."),
        ("merge_object", [], {}, "merge_object takes an object, but the value there is an array."),
        ("merge_object", MISSING, 1.5, "merge_object takes an object, but the incoming value is a number."),
        ("set_union", [1], 1, "set_union takes an array, but the incoming value is a number."),
    ],
)
def test_a_wrong_type_fails_the_step(name: str, current: JsonValue | Missing, incoming: JsonValue, reason: str) -> None:
    with pytest.raises(StepFailed) as failed:
        reduce(name, current, incoming)
    assert (failed.value.code, failed.value.message) == ("reducer_type_error", reason)


@pytest.mark.parametrize("name", sorted(REDUCERS))
@given(current=json_values | st.just(MISSING), incoming=json_values)
def test_neither_value_is_ever_changed(name: str, current: JsonValue | Missing, incoming: JsonValue) -> None:
    before = copy.deepcopy((current, incoming))
    with contextlib.suppress(StepFailed):
        reduce(name, current, incoming)
    assert (current, incoming) == before


@pytest.mark.parametrize("name", ["add", "max", "min"])
@given(first=numbers, second=numbers, third=numbers)
def test_sums_and_extremes_do_not_depend_on_the_order_of_writes(name: str, first: int, second: int, third: int) -> None:
    one = reduce(name, reduce(name, first, second), third)
    other = reduce(name, reduce(name, third, first), second)
    assert one == other


@given(st.lists(json_values, max_size=6), st.lists(json_values, max_size=6))
def test_a_union_holds_each_element_once_in_order_of_first_sight(
    current: list[JsonValue], incoming: list[JsonValue]
) -> None:
    union = reduce("set_union", current, incoming)
    assert isinstance(union, list)
    kept = [canonical(element) for element in union]
    assert kept == list(dict.fromkeys(canonical(element) for element in [*current, *incoming]))


def test_an_unknown_reducer_has_no_result() -> None:
    with pytest.raises(KeyError):
        reduce("concat", [], 1)
