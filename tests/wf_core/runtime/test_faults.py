"""What is wrong with a value, in words."""

from typing import Any

import pytest

from wf_core.errors import StepFailed
from wf_core.jsonvalue import MAX_DEPTH, storable
from wf_core.runtime.faults import fault, refuse_deep, storable_failure
from wf_core.runtime.work import CallFailure
from wf_core.schemas import compile_schema


def test_a_value_that_fits_has_no_fault() -> None:
    assert fault(None, 1, "input") is None
    assert fault(compile_schema({"type": "integer"}), 1, "input") is None


def test_every_problem_is_named_with_its_place() -> None:
    check = compile_schema({"properties": {"a": {"type": "integer"}, "b": {"type": "string"}}})
    found = fault(check, {"a": "x", "b": 1}, "input")
    assert found is not None
    problems: Any = found.problems
    assert [problem["where"] for problem in problems] == ["input.a", "input.b"]
    assert found.text.startswith("input.a: ")
    assert "; input.b: " in found.text


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = {"a": value}
    return value


def test_a_value_that_nests_beyond_what_is_stored_fails_the_step() -> None:
    refuse_deep("input_invalid", "It", nested(MAX_DEPTH))
    with pytest.raises(StepFailed) as caught:
        refuse_deep("input_invalid", "It", nested(MAX_DEPTH + 1))
    assert (caught.value.code, caught.value.message) == (
        "input_invalid",
        f"It cannot be stored: deeper than {MAX_DEPTH} levels.",
    )


@pytest.mark.parametrize(("text", "stored"), [("plain", "plain"), ("é𝄞\u0000", "é𝄞\u0000"), ("caf\udce9", "caf?")])
def test_text_is_stored_as_far_as_it_is_text(text: str, stored: str) -> None:
    assert storable(text) == stored


def test_a_failure_is_taken_whatever_it_brings() -> None:
    odd: Any = {"when": object()}
    stored = storable_failure(CallFailure("a\ud800", "b\ud800", executed=False, details=odd))
    assert (stored.code, stored.message, stored.executed, list(stored.details)) == ("a?", "b?", False, ["refused"])
    assert storable_failure(stored) == stored


def test_a_failure_that_can_be_stored_is_stored_as_it_is() -> None:
    failure = CallFailure("timeout", "late", details={"seconds": 3})
    assert storable_failure(failure) == failure
