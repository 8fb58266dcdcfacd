"""What every record of the plan language refuses."""

import pytest
from pydantic import TypeAdapter, ValidationError

from wf_core.plan.base import PlanRecord, StepId


class Point(PlanRecord):
    x: int


def test_an_unknown_key_is_refused() -> None:
    with pytest.raises(ValidationError, match="y"):
        Point.model_validate({"x": 1, "y": 2})


@pytest.mark.parametrize("value", ["1", 1.0, True])
def test_nothing_is_converted(value: object) -> None:
    with pytest.raises(ValidationError):
        Point.model_validate({"x": value})


def test_a_record_cannot_be_changed() -> None:
    point = Point(x=1)
    with pytest.raises(ValidationError, match="frozen"):
        point.x = 2


@pytest.mark.parametrize("text", ["a", "_", "read-note_2"])
def test_an_identifier_is_a_step_id(text: str) -> None:
    assert TypeAdapter(StepId).validate_python(text) == text


@pytest.mark.parametrize("text", ["", "1a", "-a", "a b", "a.b", "ä", "a\n"])
def test_anything_else_is_no_step_id(text: str) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(StepId).validate_python(text)
