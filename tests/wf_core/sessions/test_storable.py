"""What comes in from outside, as it can be stored."""

import pytest

from wf_core.calls.results import JsonContent, ToolResult, text_result
from wf_core.errors import InvalidResult
from wf_core.sessions.storable import require_result, storable


def test_half_a_character_becomes_a_question_mark() -> None:
    assert [storable(text) for text in ("plain", "é𝄞\u0000", "a\ud800b")] == ["plain", "é𝄞\u0000", "a?b"]


def test_a_result_is_strict_json() -> None:
    require_result(text_result("fine"))
    with pytest.raises(InvalidResult) as caught:
        require_result(ToolResult(JsonContent({"a": [float("inf")]})))
    assert caught.value.details["where"] == "result.content.a[0]"
