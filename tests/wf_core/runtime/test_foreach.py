"""What a loop goes over, and what its items see. How a loop is carried through is in test_loops."""

from typing import Any

import pytest

from tests.wf_core.kernel import (
    LIST,
    begin,
    each,
    error_of,
    finish,
    loop,
    path,
    plan,
    put,
)
from tests.wf_core.runtime.noting import MODES, RESULT, SEEN, noting, seen


@MODES
def test_the_body_runs_for_every_item_with_the_item_and_its_index_in_the_context(kind: Any) -> None:
    note = {"object": {"i": path("context.x_index"), "v": path("context.x")}}
    document = plan({"each": kind("note"), "note": put("state.seen", note)}, SEEN, output=RESULT)
    assert seen(document, ["a", "b", "a"]) == [{"i": 0, "v": "a"}, {"i": 1, "v": "b"}, {"i": 2, "v": "a"}]


@MODES
def test_an_empty_array_goes_straight_to_done(kind: Any) -> None:
    drive = begin(noting(kind), {"items": []})
    assert drive.go().output == {"seen": [], "errors": []}
    assert drive.made == []


@MODES
@pytest.mark.parametrize("items", [None, "abc", {"a": 1}, 3])
def test_over_something_that_is_not_an_array_is_foreach_not_a_list(kind: Any, items: Any) -> None:
    assert error_of(finish(noting(kind), {"items": items})) == ("foreach_not_a_list", "each")


@MODES
def test_over_something_that_is_not_there_is_path_not_found(kind: Any) -> None:
    assert error_of(finish(noting(kind), {})) == ("path_not_found", "each")


@MODES
def test_a_loop_may_be_entered_again(kind: Any) -> None:
    steps = {
        "each": kind("note", to="more"),
        "note": put("state.seen", path("context.x")),
        "more": {
            "type": "condition",
            "check": {"op": "exists", "path": "state.again"},
            "routes": {"true": "__end__", "false": "again"},
        },
        "again": put("state.again", {"value": True}, to="each"),
    }
    assert seen(plan(steps, {**SEEN, "again": {}}, output=RESULT), [1, 2]) == [1, 2, 1, 2]


@pytest.mark.parametrize("outer", [loop, each])
@pytest.mark.parametrize("inner", [loop, each])
def test_loops_nest_and_their_writes_reach_the_root(outer: Any, inner: Any) -> None:
    inside = {**inner("note", over="context.x"), "as": "y"}
    both = {"object": {"row": path("context.x_index"), "y": path("context.y")}}
    document = plan({"each": outer("in"), "in": inside, "note": put("state.seen", both)}, SEEN, output=RESULT)
    expected = [{"row": row, "y": y} for row, y in [(0, 1), (0, 2), (2, 3)]]
    assert seen(document, [[1, 2], [], [3]]) == expected


@MODES
def test_an_inner_loop_of_the_same_name_hides_the_outer_item(kind: Any) -> None:
    document = plan(
        {"each": kind("in"), "in": loop("note", over="context.x"), "note": put("state.seen", path("context.x"))},
        SEEN,
        output=RESULT,
    )
    assert seen(document, [["a"], ["b", "c"]]) == ["a", "b", "c"]


@MODES
def test_the_state_list_that_a_loop_is_over_may_grow_without_changing_the_loop(kind: Any) -> None:
    steps = {"each": kind("note", over="state.seen"), "note": put("state.seen", path("context.x"))}
    state = {"seen": {**LIST, "default": [1, 2]}}
    assert seen(plan(steps, state, output=RESULT), []) == [1, 2, 1, 2]
