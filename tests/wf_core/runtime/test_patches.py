"""Committing what a step writes: all of it or nothing, through the reducers, and only what fits the schema."""

from typing import Any

import pytest

from tests.wf_core.kernel import LIST, error_of, finish, node, path, plan, put, value
from wf_core.errors import StepFailed
from wf_core.jsonvalue import MAX_DEPTH
from wf_core.paths import lookup
from wf_core.runtime.patches import apply_writes, merge_writes
from wf_core.runtime.targets import StateShape
from wf_core.state import Layer


def write(layer: Layer, properties: dict[str, Any], *writes: tuple[str, Any]) -> Any:
    shape = StateShape({"properties": properties})
    return apply_writes(shape, layer, [(shape.target(tuple(text.split("."))), incoming) for text, incoming in writes])


def refused(code: str, layer: Layer, properties: dict[str, Any], *writes: tuple[str, Any]) -> StepFailed:
    before = layer.whole()
    with pytest.raises(StepFailed) as caught:
        write(layer, properties, *writes)
    assert caught.value.code == code
    assert layer.whole() == before
    return caught.value


@pytest.mark.parametrize(
    ("reducer", "current", "incoming", "result"),
    [
        ("replace", 1, None, None),
        ("append", [1], [2], [1, [2]]),
        ("extend", [1], [2, [3]], [1, 2, [3]]),
        ("add", 1, 1.5, 2.5),
        ("add", 2**64, 1, 2**64 + 1),
        ("max", 2, 1, 2),
        ("min", 2, 1.5, 1.5),
        ("merge_object", {"a": {"b": 1}}, {"a": {"c": 1}}, {"a": {"c": 1}}),
        ("set_union", [1, "a"], [1.0, True, "a", [1]], [1, "a", True, [1]]),
    ],
)
def test_a_reducer_says_how_a_write_meets_the_value_there(
    reducer: str, current: Any, incoming: Any, result: Any
) -> None:
    layer = Layer({"a": current})
    write(layer, {"a": {"reducer": reducer}}, ("a", incoming))
    assert repr(layer.whole()) == repr({"a": result})


def test_no_reducer_means_replace() -> None:
    layer = Layer({"a": [1]})
    write(layer, {"a": {}}, ("a", [2]))
    assert layer.whole() == {"a": [2]}


@pytest.mark.parametrize(
    ("reducer", "incoming", "result"),
    [
        ("append", 1, [1]),
        ("extend", [1], [1]),
        ("add", 1, 1),
        ("max", 1, 1),
        ("min", 1, 1),
        ("merge_object", {"a": 1}, {"a": 1}),
        ("set_union", [1, 1.0], [1]),
    ],
)
def test_a_missing_current_value_is_an_empty_list_or_object_or_just_the_incoming_value(
    reducer: str, incoming: Any, result: Any
) -> None:
    layer = Layer({})
    write(layer, {"a": {"reducer": reducer}}, ("a", incoming))
    assert layer.whole() == {"a": result}


@pytest.mark.parametrize(
    ("reducer", "current", "incoming"),
    [
        ("append", "text", 1),
        ("append", None, 1),
        ("extend", [], 1),
        ("extend", {}, [1]),
        ("add", 1, "1"),
        ("add", True, 1),
        ("add", 1e308, 1e308),
        ("max", "a", "b"),
        ("min", 1, None),
        ("merge_object", {}, [1]),
        ("merge_object", [], {}),
        ("set_union", [], "a"),
    ],
)
def test_a_wrong_type_is_reducer_type_error(reducer: str, current: Any, incoming: Any) -> None:
    refused("reducer_type_error", Layer({"a": current}), {"a": {"reducer": reducer}}, ("a", incoming))


def test_writing_below_a_missing_parent_creates_objects() -> None:
    layer = Layer({})
    write(layer, {"a": {}}, ("a.b.c", 1))
    assert layer.whole() == {"a": {"b": {"c": 1}}}


@pytest.mark.parametrize("there", ["text", [1], None, 3])
def test_writing_through_what_is_no_object_is_state_invalid(there: Any) -> None:
    refused("state_invalid", Layer({"a": {"b": there}}), {"a": {}}, ("a.b.c", 1))


def test_writing_into_an_array_by_index_is_state_invalid() -> None:
    refused("state_invalid", Layer({"a": [1]}), {"a": {"type": "array"}}, ("a.0", 2))


def test_every_field_that_was_touched_is_checked_and_one_violation_commits_nothing() -> None:
    properties = {"n": {"type": "integer"}, "m": {"maximum": 3}, "log": LIST}
    failed = refused("state_invalid", Layer({"log": []}), properties, ("log", 1), ("n", 2), ("m", 4))
    assert failed.details["problems"][0]["where"] == "state.m"


def test_what_was_not_touched_is_not_checked() -> None:
    layer = Layer({"n": "invalid since the start"})
    write(layer, {"n": {"type": "integer"}, "m": {}}, ("m", 1))
    assert layer.whole() == {"n": "invalid since the start", "m": 1}


def test_a_field_whose_default_does_not_fit_is_judged_whole_once_it_is_written() -> None:
    nested = {"type": "object", "properties": {"log": {**LIST, "items": {"type": "integer"}}}, "required": ["n"]}
    properties = {"a": nested}
    layer = Layer(dict(StateShape({"properties": properties}).defaults))
    refused("state_invalid", layer, properties, ("a.log", 1))
    write(layer, properties, ("a.n", 1), ("a.log", 1))
    assert layer.whole() == {"a": {"log": [1], "n": 1}}


def test_an_append_is_checked_against_the_items_and_the_length() -> None:
    properties = {"a": {**LIST, "items": {"type": "integer"}, "maxItems": 2}}
    layer = Layer({"a": []})
    write(layer, properties, ("a", 1))
    refused("state_invalid", layer, properties, ("a", "text"))
    write(layer, properties, ("a", 2))
    refused("state_invalid", layer, properties, ("a", 3))


def test_an_append_to_a_list_does_not_copy_it_also_beside_other_writes() -> None:
    """The cost of an append must not be that of the list."""
    layer = Layer({"a": [], "o": {"l": []}, "n": 0})
    properties = {"a": LIST, "o": {"type": "object", "properties": {"l": LIST, "m": {}}}, "n": {}}
    write(layer, properties, ("a", 1), ("o.l", 1), ("o.m", 1), ("n", 1))
    ours, nested = (lookup(layer.values, list_) for list_ in (("a",), ("o", "l")))
    write(layer, properties, ("a", 2), ("o.l", 2), ("n", 2))
    write(layer, properties, ("o.m", 2), ("o.l", 3), ("a", 3))
    assert layer.field("a") is ours
    assert lookup(layer.values, ("o", "l")) is nested
    assert layer.whole() == {"a": [1, 2, 3], "o": {"l": [1, 2, 3], "m": 2}, "n": 2}


def test_a_list_that_replaced_ours_is_not_appended_to_in_place() -> None:
    layer = Layer({"a": []})
    incoming: list[Any] = ["theirs"]
    properties = {"a": LIST}
    write(layer, properties, ("a", 1))
    shape = StateShape({"properties": properties})
    apply_writes(shape, layer, [(shape.target(("a",), "replace"), incoming)])
    write(layer, properties, ("a", 2))
    assert (layer.whole(), incoming) == ({"a": ["theirs", 2]}, ["theirs"])


def test_the_changes_are_the_incoming_values_by_path_and_reducer() -> None:
    changes = write(Layer({"a": [1, 2, 3]}), {"a": LIST, "o": {}}, ("a", 4), ("o.n", 5))
    assert changes == {"state.a": {"append": 4}, "state.o.n": {"replace": 5}}


def test_every_write_to_an_upper_layer_is_logged_to_be_reduced_below() -> None:
    layer = Layer({}, Layer({"a": [1]}), [])
    write(layer, {"a": LIST, "n": {"reducer": "add"}}, ("a", 2), ("n", 3))
    assert layer.log == [(("a",), "append", 2), (("n",), "add", 3)]
    assert layer.parent is not None
    assert (layer.whole(), layer.parent.whole()) == ({"a": [1, 2], "n": 3}, {"a": [1]})


def test_merged_writes_of_different_paths_in_one_field_keep_each_other() -> None:
    properties = {"o": {"type": "object", "properties": {"l": LIST, "n": {"reducer": "add"}}}}
    layer = Layer({"o": {"l": [0]}})
    logs = [[(("o", "l"), "append", 1), (("o", "n"), "add", 1)], [(("o", "n"), "add", 2), (("o", "l"), "append", 2)]]
    merge_writes(StateShape({"properties": properties}), layer, logs)
    assert layer.whole() == {"o": {"l": [0, 1, 2], "n": 3}}


def test_a_path_that_is_too_long_to_be_stored_is_state_invalid() -> None:
    layer = Layer({})
    refused("state_invalid", layer, {"a": {}}, ("a" + ".b" * (MAX_DEPTH + 50), 1))
    write(layer, {"a": {}}, ("a" + ".b" * (MAX_DEPTH - 50), 1))


def test_the_map_of_one_step_is_one_patch() -> None:
    step = node(input={"a": value(1), "b": value("text")}, output={"state.a": "a", "state.b": "b"})
    run = finish(plan({"say": step}, {"a": {}, "b": {"type": "integer"}}))
    assert error_of(run) == ("state_invalid", "say")
    assert run.scopes[0].layer.whole() == {}


def test_an_optional_source_that_is_missing_writes_nothing() -> None:
    step = node(input={"a": value(1)}, output={"state.a": "a", "state.b": {"source": "b.c", "optional": True}})
    run = finish(plan({"say": step}, {"a": {}, "b": {}}, output={"state": path("state")}))
    assert run.output == {"state": {"a": 1}}


def test_one_source_may_fan_out_and_dot_is_the_whole_result() -> None:
    step = node(input={"a": value([1])}, output={"state.a": "a", "state.b": "a", "state.c": ".", "state.d": "a.0"})
    document = plan({"say": step, "more": put("state.a", value(2))}, {"a": LIST, "b": LIST, "c": {}, "d": {}})
    run = finish({**document, "output": {"state": path("state")}})
    assert run.output == {"state": {"a": [[1]], "b": [[1]], "c": {"a": [1]}, "d": 1}}


def test_a_quoted_segment_is_one_key_whatever_is_in_it() -> None:
    step = put('state."a.b"."first name"', value(1))
    run = finish(plan({"say": step}, {"a.b": {}}, output={"a": path('state."a.b"."first name"'), "s": path("state")}))
    assert run.output == {"a": 1, "s": {"a.b": {"first name": 1}}}


def test_a_number_in_a_written_path_is_a_key() -> None:
    run = finish(plan({"say": put("state.a.0", value(1))}, {"a": {}}, output={"a": path("state.a")}))
    assert run.output == {"a": {"0": 1}}
