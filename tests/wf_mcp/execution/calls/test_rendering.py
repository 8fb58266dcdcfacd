"""What a capability answered, as a model reads it."""

from typing import Any

import pytest

from tests.wf_core.anything import nested
from wf_core.calls.results import (
    JsonContent,
    MediaContent,
    MixedContent,
    TextContent,
    ToolResult,
    as_text,
    check_result,
)
from wf_core.jsonvalue import MAX_DEPTH
from wf_mcp.execution.calls.rendering import answered, failed, failure, from_worker, storable
from wf_mcp.sources.protocol import CallFailed, CallResult

PICTURE = {"type": "image", "data": "AAAA", "mimeType": "image/png"}


@pytest.mark.parametrize(
    ("output", "content"),
    [
        ({"result": "words"}, TextContent("words")),
        ({"result": 3}, JsonContent(3)),
        ({"a": 1}, JsonContent({"a": 1})),
        ({"content": [{"type": "text", "text": "words"}], "text": "words"}, TextContent("words")),
        (
            {"content": [{"type": "text", "text": "see"}, PICTURE], "text": "see"},
            MixedContent((TextContent("see"), MediaContent("image/png", "AAAA"))),
        ),
        ({"content": [{"type": "else"}], "text": ""}, JsonContent({"content": [{"type": "else"}], "text": ""})),
    ],
)
def test_an_answer_is_text_json_or_media_wherever_the_call_was_made(output: Any, content: Any) -> None:
    """That a call was isolated is not for the model to see: our own worker prints the output as it is."""
    assert from_worker(ToolResult(JsonContent(output))) == ToolResult(content)
    ended = answered(CallResult("ok", output), ("ok",))
    assert (ended.result.content, ended.result.error, ended.output) == (content, False, output)


def test_an_outcome_that_is_not_the_usual_one_is_said() -> None:
    ended = answered(CallResult("rejected", {"limit": 3}), ("ok", "rejected"))
    assert ended.result.content == JsonContent({"outcome": "rejected", "output": {"limit": 3}})
    assert answered(CallResult("accepted", {"result": "x"}), ("accepted", "ok")).result.content == TextContent("x")
    assert answered(CallResult("error", {"message": "no"}), ("ok", "error")).result.error


def test_a_failure_says_whether_it_may_have_had_its_effect() -> None:
    assert as_text(failed("timeout", "Too slow.", executed=True).result).endswith("It may have had its effect.")
    assert as_text(failed("timeout", "Too slow.", executed=True, read_only=True).result).endswith("It had no effect.")
    ended = failure(CallFailed("source_not_found", "Gone.", executed=False), read_only=False)
    assert as_text(ended.result) == "source_not_found: Gone. It had no effect."
    assert (ended.code, ended.executed, ended.result.error) == ("source_not_found", False, True)


def test_what_a_worker_says_of_a_failure_or_in_words_stays_as_it_is() -> None:
    for result in (ToolResult(JsonContent({"result": "x"}), error=True), ToolResult(TextContent('{"result": "x"}'))):
        assert from_worker(result) == result


@pytest.mark.parametrize("levels", range(MAX_DEPTH - 5, MAX_DEPTH + 3))
def test_the_end_of_a_call_can_be_stored_whatever_came_of_it(levels: int) -> None:
    value = nested(levels)
    for outcome, most in (("ok", MAX_DEPTH), ("other", MAX_DEPTH - 1), ("error", MAX_DEPTH)):
        ended = answered(CallResult(outcome, value), ("ok", "other", "error"))
        told = storable(ended, "ops.deep")
        check_result(told.result)
        if levels <= most:
            assert told is ended
        else:
            words = f"output_invalid: The result of ops.deep cannot be stored: deeper than {MAX_DEPTH} levels."
            assert as_text(told.result) == f"{words} It may have had its effect."
            assert (told.code, told.executed, told.result.error) == ("output_invalid", True, True)


def test_a_failure_is_told_in_whole_characters() -> None:
    assert as_text(failed("odd", "it said \ud800", executed=False).result) == "odd: it said ? It had no effect."
