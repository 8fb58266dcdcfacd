"""What a tool accepts, and how it says what is wrong: nothing is converted, nothing is clamped."""

from typing import Annotated, Any

import pytest
from pydantic import AfterValidator, Field, create_model

from wf_mcp.errors import InvalidArgument
from wf_mcp.server.arguments import JsonObject, Limit, check, strict


def is_odd(number: int) -> int:
    if number % 2 == 0:
        raise ValueError("Is not odd.")
    return number


ARGUMENTS = strict(
    create_model(
        "example",
        run_id=(str, ...),
        workflow_input=(JsonObject, {}),
        limit=(Limit, 20),
        wait_seconds=(Annotated[float, Field(ge=0, le=45)], 25),
        reason=(str | None, None),
        replace=(bool, False),
        answer=(Any, {}),
        odd=(Annotated[int, AfterValidator(is_odd)], 1),
    )
)


def refusal(arguments: dict[str, Any]) -> InvalidArgument:
    with pytest.raises(InvalidArgument) as caught:
        check(ARGUMENTS, arguments)
    return caught.value


def test_defaults_are_filled_in() -> None:
    assert check(ARGUMENTS, {"run_id": "run_1"}) == {
        "run_id": "run_1",
        "workflow_input": {},
        "limit": 20,
        "wait_seconds": 25,
        "reason": None,
        "replace": False,
        "answer": {},
        "odd": 1,
    }


def test_a_missing_argument_is_named_and_the_hint_shows_the_others() -> None:
    error = refusal({})

    assert error.message == "`run_id` is missing."
    assert error.hint is not None
    assert "It needs `run_id`." in error.hint
    assert "`limit`" in error.hint


def test_an_unknown_argument_names_the_nearest_one() -> None:
    assert (
        refusal({"run_id": "run_1", "limt": 3}).message == "`limt` is no argument of this tool (did you mean `limit`?)."
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"run_id": 5}, "`run_id` must be text, not the number 5."),
        ({"run_id": None}, "`run_id` must be text, not null."),
        ({"run_id": "r", "limit": "5"}, "`limit` must be a whole number, not text."),
        ({"run_id": "r", "limit": True}, "`limit` must be a whole number, not true or false."),
        ({"run_id": "r", "limit": 2.5}, "`limit` must be a whole number, not the number 2.5."),
        ({"run_id": "r", "limit": 0}, "`limit` must be at least 1."),
        ({"run_id": "r", "limit": 101}, "`limit` must be at most 100."),
        ({"run_id": "r", "wait_seconds": 46}, "`wait_seconds` must be at most 45."),
        (
            {"run_id": "r", "wait_seconds": float("nan")},
            "`wait_seconds` must be a number, which NaN and infinities are not.",
        ),
        ({"run_id": "r", "limit": float("inf")}, "`limit` must be a whole number, not the number inf."),
        ({"run_id": "r", "odd": 2}, "`odd` is not odd."),
        ({"run_id": "r", "replace": "yes"}, "`replace` must be true or false, not text."),
        ({"run_id": "r", "workflow_input": [1]}, "`workflow_input` must be an object, not a list."),
        ({"run_id": "r", "workflow_input": "{'a': 1}"}, "`workflow_input` must be an object, not text."),
    ],
)
def test_nothing_is_converted_or_clamped(arguments: dict[str, Any], message: str) -> None:
    assert refusal(arguments).message == message


def test_every_problem_is_said_at_once() -> None:
    error = refusal({"limit": 0, "replace": 1})

    assert [problem["name"] for problem in error.details["arguments"]] == ["run_id", "limit", "replace"]


def test_null_for_an_optional_argument_means_that_it_was_left_out() -> None:
    """Many models send null for what they do not mean to say."""
    assert check(ARGUMENTS, {"run_id": "r", "limit": None, "reason": None})["limit"] == 20


def test_null_is_a_value_where_any_value_may_be_sent() -> None:
    assert check(ARGUMENTS, {"run_id": "r", "answer": None})["answer"] is None


def test_a_whole_number_may_be_written_with_a_point() -> None:
    """JSON has one kind of number: 5.0 is 5."""
    assert check(ARGUMENTS, {"run_id": "r", "limit": 5.0})["limit"] == 5


def test_an_object_may_come_as_its_text() -> None:
    """Some clients cannot send a nested object in any other way."""
    assert check(ARGUMENTS, {"run_id": "r", "workflow_input": '{"a": [1]}'})["workflow_input"] == {"a": [1]}
