"""Results of tools."""

import json

from pydantic import BaseModel

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
    result = results.failure(InvalidArgument("No.", hint="Yes."), tool="x")

    assert result.is_error
    assert result.structured_content == {
        "error": {"code": "invalid_argument", "message": "No.", "hint": "Yes.", "details": {}}
    }
