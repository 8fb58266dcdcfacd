"""What conditions answer, and which of them have no answer."""

from typing import Any

import pytest
from pydantic import TypeAdapter

from tests.wf_core.kernel import check, error_of, finish, loop, node, path, plan, put, value
from wf_core.errors import StepFailed
from wf_core.plan import Condition
from wf_core.runtime.conditions import compile_condition
from wf_core.runtime.views import View
from wf_core.state import Layer

READ: TypeAdapter[Condition] = TypeAdapter(Condition)
GONE = {"op": "eq", "left": path("state.gone"), "right": value(1)}
YES = {"op": "exists", "path": "state.null"}
NO = {"op": "exists", "path": "state.gone"}


def ask(question: Any) -> bool:
    return compile_condition(READ.validate_python(question))(View({}, Layer({"null": None, "list": [1, "a", None]})))


def compare(left: Any, op: str, right: Any) -> bool:
    return ask({"op": op, "left": value(left), "right": value(right)})


def test_exists_is_true_where_the_path_leads_somewhere_be_it_to_null() -> None:
    assert ask(YES)
    assert not ask(NO)
    assert not ask({"op": "exists", "path": "state.list.3"})
    assert ask({"op": "exists", "path": "state"})


def test_not_and_or_combine() -> None:
    assert ask({"op": "not", "arg": NO})
    assert ask({"op": "and", "args": [YES, YES]})
    assert not ask({"op": "and", "args": [YES, NO]})
    assert ask({"op": "or", "args": [NO, YES]})
    assert (ask({"op": "and", "args": []}), ask({"op": "or", "args": []})) == (True, False)


def test_and_and_or_go_from_left_to_right_and_no_further_than_needed() -> None:
    assert not ask({"op": "and", "args": [NO, GONE]})
    assert ask({"op": "or", "args": [YES, GONE]})
    for op, first in (("and", YES), ("or", NO)):
        with pytest.raises(StepFailed) as caught:
            ask({"op": op, "args": [first, GONE]})
        assert caught.value.code == "path_not_found"


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (1, 1.0, True),
        (True, 1, False),
        (False, 0, False),
        (None, False, False),
        ({"a": 1, "b": [1]}, {"b": [1.0], "a": 1}, True),
        ({"a": True}, {"a": 1}, False),
        ([1, 2], [2, 1], False),
        ("1", 1, False),
        (10**30, 10**30, True),
        (2**53 + 1, float(2**53), False),
        ([], {}, False),
    ],
)
def test_eq_is_json_equality(left: Any, right: Any, same: bool) -> None:
    assert compare(left, "eq", right) is same
    assert compare(left, "ne", right) is not same


@pytest.mark.parametrize(
    ("left", "right"),
    [(1, 2), (1, 1.5), (-(10**30), 0), (10**30, 10**30 + 1), ("a", "b"), ("", "a"), ("Z", "a"), ("é", "\uffff")],
)
def test_ordering_compares_number_with_number_and_text_with_text(left: Any, right: Any) -> None:
    answers = [
        [compare(a, op, b) for op in ("lt", "le", "gt", "ge")] for a, b in [(left, right), (left, left), (right, left)]
    ]
    assert answers == [[True, True, False, False], [False, True, False, True], [False, False, True, True]]


def test_text_is_ordered_by_code_point() -> None:
    assert compare("\uffff", "lt", "\U0001d11e")


@pytest.mark.parametrize("op", ["lt", "le", "gt", "ge"])
@pytest.mark.parametrize(("left", "right"), [(1, "1"), (True, 0), (1, False), (None, 1), ([1], [2]), ({}, {})])
def test_ordering_anything_else_is_condition_type_error(op: str, left: Any, right: Any) -> None:
    with pytest.raises(StepFailed) as caught:
        compare(left, op, right)
    assert caught.value.code == "condition_type_error"


@pytest.mark.parametrize(
    ("left", "right", "inside"),
    [
        (1, [2, 1.0], True),
        (True, [1], False),
        ({"a": 1}, [{"a": 1.0}], True),
        ("b", "abc", True),
        ("", "abc", True),
        ("d", "abc", False),
        ("a", {"a": None}, True),
        ("b", {"a": "b"}, False),
        (None, [], False),
    ],
)
def test_in_is_an_element_a_substring_or_a_key(left: Any, right: Any, inside: bool) -> None:
    assert compare(left, "in", right) is inside


@pytest.mark.parametrize(("left", "right"), [(1, "1"), (1, {"1": 1}), ("a", 1), ("a", None), (None, "None")])
def test_in_with_other_types_is_condition_type_error(left: Any, right: Any) -> None:
    with pytest.raises(StepFailed) as caught:
        compare(left, "in", right)
    assert caught.value.code == "condition_type_error"


def test_matches_takes_a_json_schema_pattern_that_may_match_anywhere() -> None:
    assert compare("note-7.md", "matches", r"\d")
    assert not compare("note.md", "matches", r"^\d+$")


@pytest.mark.parametrize(
    ("left", "right"), [(1, "1"), ("a", 1), (None, "a"), ("a", "("), ("aa", r"(a)\1"), ("a", "(?=a)")]
)
def test_matches_without_a_text_and_a_usable_pattern_is_condition_type_error(left: Any, right: Any) -> None:
    with pytest.raises(StepFailed) as caught:
        compare(left, "matches", right)
    assert caught.value.code == "condition_type_error"


def test_a_pattern_takes_time_linear_in_the_text() -> None:
    assert not compare("a" * 50_000 + "!", "matches", "^(a+)+$")


def test_true_and_false_are_the_routes() -> None:
    document = plan(
        {
            "if": check({"op": "exists", "path": "input.a"}, "yes", "no"),
            "yes": {"type": "end", "outcome": "yes"},
            "no": {"type": "end", "outcome": "no"},
        },
        outcomes=["yes", "no"],
    )
    assert (finish(document, {"a": None}).outcome, finish(document, {}).outcome) == ("yes", "no")


def test_a_condition_without_an_answer_fails_its_step() -> None:
    assert error_of(finish(plan({"if": check(GONE, "say"), "say": node()}, {"gone": {}}))) == ("path_not_found", "if")


def test_the_items_of_loops_are_there_to_be_asked_about() -> None:
    steps = {
        "each": loop("if"),
        "if": check({"op": "gt", "left": path("context.x"), "right": value(1)}, "note"),
        "note": put("state.seen", path("context.x_index")),
    }
    document = plan(steps, {"seen": {"default": [], "reducer": "append"}}, output={"seen": path("state.seen")})
    assert finish(document, {"items": [1, 2, 3]}).output == {"seen": [1, 2]}


def test_looking_at_a_list_does_not_make_the_next_append_copy_it() -> None:
    layer = Layer({"list": [1]})
    layer.append(("list",), 2)
    ours = layer.values["list"]
    question = {"op": "in", "left": value(1), "right": path("state.list")}
    assert compile_condition(READ.validate_python(question))(View({}, layer))
    layer.append(("list",), 3)
    assert layer.values["list"] is ours
