"""Results of tools."""

import json

from pydantic import BaseModel

from wf_core.jsonvalue import size
from wf_mcp.config import Redactor
from wf_mcp.errors import InvalidArgument
from wf_mcp.server import results
from wf_mcp.server.bounds import MOST_BYTES


class Answer(BaseModel):
    number: int
    text: str


def test_text_holds_the_same_json_whatever_the_size_of_its_numbers() -> None:
    result = results.success(Answer(number=2**70, text="näh"))

    assert result.structured_content == {"number": 2**70, "text": "näh"}
    assert json.loads(result.model_dump()["content"][0]["text"]) == result.structured_content
    assert not result.is_error


def test_an_answer_is_as_short_as_a_model_can_read_it() -> None:
    told = results.success(Answer(number=1, text="x" * 100_000)).structured_content
    assert told is not None
    assert told["text"].endswith(" … (100000 characters in all)")
    assert told["diagnostics"][0]["code"] == "shortened"


def test_an_error_is_as_short_as_a_model_can_read_it() -> None:
    details = {"resume_schema": {f"key{number}": "x" * 100 for number in range(1000)}, "interrupt_id": "int_1"}
    told = results.failure(InvalidArgument("No.", details=details), tool="x", redactor=Redactor()).structured_content
    assert told is not None
    assert size(told) <= MOST_BYTES
    assert (told["error"]["code"], told["error"]["details"]["interrupt_id"]) == ("invalid_argument", "int_1")
    assert told["error"]["details"]["resume_schema"]["$truncated"] is True
    assert told["diagnostics"][0]["message"].endswith(": shortened: `error.details`.")


def test_a_failure_has_code_message_hint_and_details() -> None:
    result = results.failure(InvalidArgument("No.", hint="Yes."), tool="x", redactor=Redactor())

    assert result.is_error
    assert result.structured_content == {
        "error": {"code": "invalid_argument", "message": "No.", "hint": "Yes.", "details": {}}
    }


def test_a_secret_that_was_passed_is_not_echoed_even_where_the_echo_is_cut() -> None:
    redactor = Redactor()
    redactor.add("hunter22" * 30)
    error = InvalidArgument(f"There is no {'hunter22' * 30}.", details={"id": ["hunter22" * 30]})
    assert "hunter" not in str(results.failure(error, tool="x", redactor=redactor))
