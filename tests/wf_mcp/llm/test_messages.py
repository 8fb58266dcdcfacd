"""What of a session cannot be told to a model."""

from dataclasses import replace

import pytest

from tests.wf_mcp.llm.asking import AGENT, WORD_COUNT, asking
from wf_core.calls.results import text_result
from wf_core.sessions.models import Notice, PartialUserTurn, UserTurn
from wf_mcp.llm.messages import has_files, messages, safe_name, tools


def test_a_turn_with_open_calls_is_never_told() -> None:
    with pytest.raises(ValueError, match="t2"):
        messages(asking(UserTurn("t0", "Go."), PartialUserTurn("t2", [])))


def test_the_same_conversation_reads_the_same_after_more_was_said() -> None:
    first, second = UserTurn("t0", "One."), UserTurn("t2", "Two.")
    before, after = messages(asking(first)), messages(asking(first, second))
    assert before[0].parts[0].content == after[0].parts[0].content  # type: ignore[union-attr]
    assert not has_files(after)


def test_words_that_are_none_are_still_a_message() -> None:
    told = messages(asking(UserTurn("t0", "  ")))
    assert told[0].parts[0].content == "(no words)"  # type: ignore[union-attr]


def test_a_notice_says_whether_a_call_has_ended_or_nobody_knows() -> None:
    unknown = Notice("t2.0", "build", text_result("Outcome unknown: …"), held=True)
    ended = Notice("t2.1", "build", text_result("built"))
    told = messages(asking(UserTurn("t4", notices=(unknown, ended))))
    assert told[0].parts[0].content == (  # type: ignore[union-attr]
        "The earlier call t2.0 of build is in doubt.\nOutcome unknown: …\n\n"
        "The earlier call t2.1 of build has ended. Its result:\nbuilt"
    )


@pytest.mark.parametrize("schema", [True, {}, {"properties": {"a": {}}}, {"type": ["object", "null"]}])
def test_a_tools_input_is_always_an_object(schema: object) -> None:
    told = tools([replace(WORD_COUNT, input_schema=schema)])  # type: ignore[arg-type]
    assert told[0].parameters_json_schema["type"] == "object"


def test_a_name_that_a_model_made_up_becomes_one_that_vendors_take() -> None:
    assert safe_name("ops.word_count", AGENT) == "word_count"
    assert safe_name("a/b c" * 40, AGENT) == ("a_b_c" * 40)[:64]
    assert safe_name("", AGENT) == "unknown"
