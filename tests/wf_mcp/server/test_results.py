"""Results of tools."""

import json
from typing import Any

import pytest
from pydantic import BaseModel

from wf_mcp.config import Redactor
from wf_mcp.errors import InvalidArgument
from wf_mcp.server import results


class Answer(BaseModel):
    number: int
    text: str


def test_text_holds_the_same_json_whatever_the_size_of_its_numbers() -> None:
    result = results.success(Answer(number=2**70, text="näh"))

    assert result.structured_content == {"number": 2**70, "text": "näh"}
    assert json.loads(result.model_dump()["content"][0]["text"]) == result.structured_content
    assert not result.is_error


def test_a_failure_has_code_message_hint_and_details() -> None:
    result = results.failure(InvalidArgument("No.", hint="Yes."), tool="x", redactor=Redactor())

    assert result.is_error
    assert result.structured_content == {
        "error": {"code": "invalid_argument", "message": "No.", "hint": "Yes.", "details": {}}
    }


class Told(BaseModel):
    """What the answers about runs look like."""

    run_id: str
    output: Any
    interrupts: list[dict[str, Any]] = []


def test_an_answer_that_a_model_can_read_is_exact() -> None:
    told = Told(run_id="run_1", output={"text": "x" * 31_000})
    assert results.success(told).structured_content == told.model_dump()


@pytest.mark.parametrize("questions", [0, 3, 90])
def test_of_a_longer_answer_the_longest_values_are_shortened(questions: int) -> None:
    open_questions = [{"id": f"int_{number}", "payload": {"text": "y" * 3000}} for number in range(questions)]
    told = Told(run_id="run_1", output={"number": 1, "text": "x" * 5_000_000}, interrupts=open_questions)
    answer = results.success(told).structured_content
    assert answer is not None
    assert len(json.dumps(answer)) < 70_000
    assert answer["output"]["number"] == 1
    assert answer["output"]["text"]["$truncated"] is True
    assert [question["id"] for question in answer["interrupts"]] == [f"int_{number}" for number in range(questions)]
    if questions == 3:
        assert answer["interrupts"] == open_questions


def test_a_secret_that_was_passed_is_not_echoed_even_where_the_echo_is_cut() -> None:
    redactor = Redactor()
    redactor.add("hunter22" * 30)
    error = InvalidArgument(f"There is no {'hunter22' * 30}.", details={"id": ["hunter22" * 30]})
    assert "hunter" not in str(results.failure(error, tool="x", redactor=redactor))


def test_a_long_answer_of_a_model_is_cut_and_stays_text() -> None:
    class Spoken(BaseModel):
        status: str
        answer: str | None

    told = results.success(Spoken(status="answered", answer="word " * 1_000_000)).structured_content
    assert told is not None
    assert told["answer"].startswith("word word")
    assert "5000000 characters in all" in told["answer"]
    assert len(json.dumps(told)) < 40_000
