"""Where the writes of concurrent items meet: their order, and which of them cannot meet."""

from typing import Any

import pytest

from tests.wf_core.kernel import LIST, begin, each, error_of, finish, loop, node, path, plan, put
from wf_core.errors import StepFailed
from wf_core.plan.reducers import MERGEABLE
from wf_core.runtime.barriers import meet, refuse_conflicts
from wf_core.runtime.targets import StateShape
from wf_core.state import Layer, Write


def write(target: str, incoming: Any, reducer: str = "replace") -> Write:
    return tuple(target.split(".")), reducer, incoming


@pytest.mark.parametrize("reducer", sorted(MERGEABLE))
def test_items_may_write_one_path_whose_reducer_allows_it(reducer: str) -> None:
    refuse_conflicts({0: [write("a", 1, reducer)], 1: [write("a", 2, reducer)]})


def test_two_items_that_write_a_path_whose_reducer_does_not_allow_it_are_conflicting_writes() -> None:
    with pytest.raises(StepFailed) as caught:
        refuse_conflicts({3: [write("a.b", 1)], 7: [write("a.b", 2)]})
    assert caught.value.code == "conflicting_writes"
    assert caught.value.details == {"items": [3, 7], "paths": ["state.a.b", "state.a.b"]}


@pytest.mark.parametrize(
    ("writes", "items"),
    [
        ({0: [write("a", {}, "merge_object")], 1: [write("a.b", 1)]}, [0, 1]),
        ({0: [write("a.b", 1)], 1: [write("a", {}, "merge_object")]}, [1, 0]),
        ({0: [write("a", {}, "merge_object"), write("a.b.c", 1)], 2: [write("a.b.c", 1)]}, [0, 2]),
        (
            {
                0: [write("a", {}, "merge_object"), write("a.n", 1, "add")],
                1: [write("a", {}, "merge_object"), write("a.n", 1, "add")],
            },
            [0, 1],
        ),
    ],
)
def test_writes_to_a_path_and_to_one_inside_it_by_another_item_are_conflicting_writes(
    writes: dict[int, list[Write]], items: list[int]
) -> None:
    with pytest.raises(StepFailed) as caught:
        refuse_conflicts(writes)
    assert (caught.value.code, sorted(caught.value.details["items"])) == ("conflicting_writes", sorted(items))


def test_two_reducers_at_one_path_do_not_meet() -> None:
    """An item that collects errors into a list which another replaces or extends."""
    with pytest.raises(StepFailed):
        refuse_conflicts({0: [write("a", [1], "extend")], 1: [write("a", 2, "append")]})


def test_one_item_may_write_a_path_again_and_inside_it() -> None:
    refuse_conflicts({0: [write("a", {}), write("a.b", 1), write("a", {}), write("a.b", 2)], 1: [write("c", 1)]})


def test_paths_that_only_start_alike_do_not_conflict() -> None:
    refuse_conflicts({0: [write("ab", 1), write("a.x", 1)], 1: [write("a.y", 1), write("abc", 1)]})


def shape(**properties: Any) -> StateShape:
    return StateShape({"type": "object", "properties": properties})


@pytest.mark.parametrize(
    ("reducer", "start", "incoming", "result"),
    [
        ("append", ["s"], [[1], 2], ["s", [1], 2]),
        ("extend", ["s"], [[1, 2], [3]], ["s", 1, 2, 3]),
        ("add", 2, [3, 1.5], 6.5),
        ("max", 2, [3, 1], 3),
        ("min", 2, [3, 1], 1),
        ("merge_object", {"a": 1}, [{"b": 1, "a": 2}, {"b": 2}], {"a": 2, "b": 2}),
        ("set_union", [1], [[2, 1.0], [3, 2]], [1, 2, 3]),
    ],
)
def test_writes_meet_in_item_order_through_the_reducer(
    reducer: str, start: Any, incoming: list[Any], result: Any
) -> None:
    layer = Layer({"a": start})
    meet(
        shape(a={"reducer": reducer}),
        layer,
        {9: [write("a", incoming[1], reducer)], 1: [write("a", incoming[0], reducer)]},
    )
    assert layer.whole() == {"a": result}


def test_the_writes_of_one_item_keep_their_order() -> None:
    layer = Layer({})
    meet(shape(), layer, {0: [write("a", {"x": 1}), write("a.y", 2), write("a", {"z": 3}), write("a.w", 4)]})
    assert layer.whole() == {"a": {"z": 3, "w": 4}}


def test_what_cannot_meet_commits_nothing() -> None:
    layer = Layer({"n": 1, "l": []})
    writes = {0: [write("l", 1, "append")], 1: [write("n", "text", "add")]}
    with pytest.raises(StepFailed) as caught:
        meet(shape(l=LIST, n={"reducer": "add"}), layer, writes)
    assert caught.value.code == "reducer_type_error"
    assert layer.whole() == {"n": 1, "l": []}


def test_only_what_all_writes_together_leave_has_to_fit_the_schema() -> None:
    """A sum may pass its bound on the way."""
    properties = shape(n={"type": "integer", "maximum": 10, "default": 0, "reducer": "add"})
    layer = Layer({"n": 0})
    meet(properties, layer, {0: [write("n", 20, "add")], 1: [write("n", -15, "add")]})
    assert layer.whole() == {"n": 5}
    with pytest.raises(StepFailed) as caught:
        meet(properties, layer, {0: [write("n", 5, "add")], 1: [write("n", 1, "add")]})
    assert caught.value.code == "state_invalid"


def by_key(kind: Any = each) -> dict[str, Any]:
    """Write a loop whose items write different paths by their data: only the run can tell whether they conflict."""
    steps = {
        "each": kind("which"),
        "which": {
            "type": "condition",
            "check": {"op": "eq", "left": path("context.x"), "right": {"value": "inside"}},
            "routes": {"true": "inside", "false": "whole"},
        },
        "inside": put("state.a.b", {"value": 1}),
        "whole": put("state.a", {"value": {"b": 2}}),
    }
    return plan(steps, {"a": {"type": "object"}}, output={"a": path("state.a")})


def test_conflicting_writes_fail_the_run_with_nothing_committed() -> None:
    run = finish(by_key(), {"items": ["inside", "whole"]})
    assert error_of(run) == ("conflicting_writes", "each")
    assert run.scopes[0].layer.whole() == {}


def test_writes_that_could_have_conflicted_but_did_not_are_committed() -> None:
    assert finish(by_key(), {"items": ["inside"]}).output == {"a": {"b": 1}}


def test_serial_items_never_conflict() -> None:
    assert finish(by_key(loop), {"items": ["inside", "whole", "inside"]}).output == {"a": {"b": 1}}


@pytest.mark.parametrize(
    ("items", "failed"),
    [([["inside"], ["whole"]], True), ([["inside", "inside"], []], False), ([["whole", "inside"], []], False)],
)
def test_writes_of_a_loop_inside_an_item_are_the_items_writes(items: list[list[str]], failed: bool) -> None:
    document = by_key()
    document["start"] = "outer"
    document["steps"]["each"] = loop("which", over="context.row")
    document["steps"]["outer"] = {**each("each"), "as": "row"}
    run = finish(document, {"items": items})
    assert (run.status == "failed") == failed
    if failed:
        assert error_of(run) == ("conflicting_writes", "outer")


def test_conflicting_writes_inside_an_item_are_the_items_failure() -> None:
    document = by_key()
    document["start"] = "outer"
    document["steps"]["each"] = each("which", over="context.row")
    document["steps"]["outer"] = {**each("each", on_item_error="skip"), "as": "row"}
    run = finish(document, {"items": [["inside", "whole"], ["inside"]]})
    assert run.output == {"a": {"b": 1}}


def test_the_writes_of_many_items_are_visible_to_the_next_step() -> None:
    steps = {
        "each": each("note", to="look"),
        "note": put("state.seen", path("context.x")),
        "look": node(input={"seen": path("state.seen")}),
    }
    drive = begin(plan(steps, {"seen": LIST}), {"items": list(range(20))})
    drive.go(choose=lambda pending: pending[len(pending) // 2])
    assert drive.inputs[-1] == {"seen": list(range(20))}


@pytest.mark.parametrize("schema", [{"reducer": "append"}, {"reducer": "append", "uniqueItems": True, "default": []}])
def test_appends_meet_also_where_no_list_is_there_or_one_element_does_not_prove_it_valid(schema: Any) -> None:
    declared = shape(a=schema)
    layer = Layer(dict(declared.defaults))
    meet(declared, layer, {1: [write("a", "second", "append")], 0: [write("a", "first", "append")]})
    assert layer.whole() == {"a": ["first", "second"]}
