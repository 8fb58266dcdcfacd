"""What a layer shows, and which lists it may append to in place."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from wf_core.paths import MISSING
from wf_core.state import Layer

L = ("list",)


def upper(below: Layer) -> Layer:
    return Layer({}, below, [])


def test_a_field_is_read_from_the_nearest_layer_that_has_it() -> None:
    low = Layer({"a": 1, "b": 1})
    top = upper(upper(low))
    top.values["b"] = 2
    assert (top.field("a"), top.field("b"), top.field("c")) == (1, 2, MISSING)
    assert top.whole() == {"a": 1, "b": 2}
    assert low.whole() == {"a": 1, "b": 1}


def test_an_append_is_seen_by_its_own_layer_and_those_above() -> None:
    low = Layer({"list": [0]})
    middle = upper(low)
    top = upper(middle)
    middle.append(L, 1)
    top.append(L, 2)
    assert [layer.field("list") for layer in (top, middle, low)] == [[0, 1, 2], [0, 1], [0]]


def test_the_length_of_a_list_is_known_without_showing_its_appends() -> None:
    low = Layer({"list": [0], "o": {"l": []}, "text": "abc"})
    top = upper(low)
    top.append(L, 1)
    top.append(("o", "l"), 1)
    assert [layer.length(path) for layer in (low, top) for path in (L, ("o", "l"))] == [1, 0, 2, 1]
    assert [top.length(path) for path in (("text",), ("gone",), ("o", "gone"), ("o",))] == [None] * 4
    assert "list" in top.lazy
    top.field("list")
    top.append(L, 2)
    assert (top.length(L), top.lazy.get("list")) == (3, None)


def test_a_list_that_nobody_else_holds_is_appended_to_in_place() -> None:
    layer = Layer({"list": []})
    layer.append(L, 1)
    ours = layer.field("list")
    layer.append(L, 2)
    assert layer.field("list") is ours
    assert ours == [1, 2]


def test_the_first_append_copies_whatever_is_there() -> None:
    theirs: list[Any] = [0]
    layer = Layer({"list": theirs, "o": {"l": theirs}})
    holder = layer.values["o"]
    layer.append(L, 1)
    layer.append(("o", "l"), 2)
    assert theirs == [0]
    assert holder == {"l": [0]}
    assert layer.whole() == {"list": [0, 1], "o": {"l": [0, 2]}}


def test_an_exposed_list_is_copied_once_by_the_next_append() -> None:
    layer = Layer({"list": [], "other": []})
    layer.append(L, 1)
    layer.append(("other",), 1)
    handed_out = layer.field("list")
    other = layer.field("other")
    layer.expose("list")
    layer.append(L, 2)
    layer.append(("other",), 2)
    assert handed_out == [1]
    assert layer.field("other") is other
    ours = layer.field("list")
    layer.append(L, 3)
    assert layer.field("list") is ours


def test_what_an_upper_layer_hands_out_is_exposed_in_the_layers_below_too() -> None:
    low = Layer({"list": []})
    low.append(L, 1)
    top = upper(low)
    handed_out = top.field("list")
    top.expose("list")
    low.append(L, 2)
    assert handed_out == [1]


def test_the_whole_state_is_a_new_object_whose_lists_no_longer_grow() -> None:
    low = Layer({"list": []})
    low.append(L, 1)
    top = upper(low)
    top.append(L, 2)
    low_whole, top_whole = low.whole(), top.whole()
    low.append(L, 3)
    top.append(L, 4)
    assert (low_whole, top_whole) == ({"list": [1]}, {"list": [1, 2]})


def test_the_lists_beside_one_that_was_appended_to_stay_where_they_are() -> None:
    low = Layer({"o": {"a": [1], "b": [2]}})
    top = upper(low)
    top.append(("o", "a"), 0)
    assert top.field("o") == {"a": [1, 0], "b": [2]}
    assert low.field("o") == {"a": [1], "b": [2]}


ACTIONS = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from(["append", "nested", "keep", "peek", "whole", "replace"]))
)


@given(ACTIONS)
def test_layers_show_what_naive_copies_would_and_what_was_handed_out_never_changes(
    actions: list[tuple[int, str]],
) -> None:
    """Once a layer has one above it, it is written to no more: the loop that made the other is under way."""
    layers = [Layer({"list": [], "o": {"l": []}})]
    shadow: list[Any] = [{"list": [], "o": {"l": []}}]
    kept: list[tuple[Any, str]] = []
    for number, (depth, action) in enumerate(actions):
        while len(layers) <= depth:
            layers.append(upper(layers[-1]))
            shadow.append({"list": list(shadow[-1]["list"]), "o": {"l": list(shadow[-1]["o"]["l"])}})
        top, expected = layers[-1], shadow[-1]
        match action:
            case "append":
                top.append(L, number)
                expected["list"].append(number)
            case "nested":
                top.append(("o", "l"), number)
                expected["o"]["l"].append(number)
            case "replace":
                top.values["list"] = [number]
                top.lazy.pop("list", None)
                top.owned.discard(L)
                expected["list"] = [number]
            case "keep":
                handed_out = top.field("o")
                top.expose("o")
                kept.append((handed_out, repr(handed_out)))
            case "whole":
                handed_out = layers[depth].whole()
                kept.append((handed_out, repr(handed_out)))
            case _:
                assert top.field("list") == expected["list"]
        assert all(repr(value) == text for value, text in kept)
    assert [layer.whole() for layer in layers] == shadow
