"""What a model's answer becomes, and what it is asked with: over real HTTP, as the server sees it."""

import base64
from typing import Any

import pytest
from pydantic_ai.exceptions import ModelHTTPError

from tests.wf_mcp.llm.asking import AGENT, KEY, Waits, asking, called, model, placed
from tests.wf_mcp.llm.openai_server import Reply, fails, responds, says, serving
from wf_core.calls.results import JsonContent, MediaContent, MixedContent, TextContent, ToolResult, text_result
from wf_core.sessions.models import Attachment, LlmTurn, Notice, UserTurn
from wf_mcp.config import Redactor
from wf_mcp.llm import vendors
from wf_mcp.llm.models import VendorModel
from wf_mcp.llm.protocol import ModelAnswer, ModelFailed

pytestmark = pytest.mark.anyio

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n0000").decode()


async def answered(reply: Reply) -> ModelAnswer:
    async with serving([reply]) as server:
        return await model(server).ask(asking())


async def told(*turns: Any) -> list[dict[str, Any]]:
    """Give what the server was told of these turns."""
    async with serving([says("Fine.")]) as server:
        await model(server).ask(asking(*turns))
        return server.told


async def test_a_tool_that_there_is_not_is_passed_on() -> None:
    answer = await answered(says("", ("c1", "rm_rf", "{}")))
    assert [(call.name, call.arguments) for call in answer.tool_calls] == [("rm_rf", {})]


@pytest.mark.parametrize(
    ("written", "read"),
    [("not json", "not json"), ('{"text": ', '{"text": '), ("[1]", [1]), ("", {}), ('{"a": NaN}', '{"a": NaN}')],
)
async def test_arguments_that_are_no_object_are_passed_on_as_the_model_wrote_them(written: str, read: object) -> None:
    answer = await answered(says("", ("c1", "word_count", written)))
    assert answer.tool_calls[0].arguments == read


@pytest.mark.parametrize(
    ("text", "call", "place"),
    [
        ("a\ud800b", ("c1", "word_count", "{}"), "answer.text"),
        ("", ("c1", "word\udc00", "{}"), "answer.calls[0]"),
        ("", ("c1", "word_count", "not json \ud800"), "answer.calls[0]"),
    ],
)
async def test_a_lone_surrogate_in_an_answer_is_refused_by_its_place(
    text: str, call: tuple[str, str, str], place: str
) -> None:
    async with serving([says(text, call)] * 4) as server:
        with pytest.raises(ModelFailed) as failed:
            await model(server).ask(asking())
    assert failed.value.code == "model_answer_invalid"
    assert f"{place}" in failed.value.message
    assert "lone surrogate" in failed.value.message


async def test_a_character_that_a_server_cuts_in_two_is_one() -> None:
    answer = await answered(says("abc\ud83d\ude00", ("c1", "word_count", '{"text": "\ud83d\ude00"}')))
    assert (answer.text, answer.tool_calls[0].arguments) == ("abc\U0001f600", {"text": "\U0001f600"})


WHOLE = ("c1", "word_count", '{"text": "a b"}')
BROKEN = ("c2", "word_count", '{"text": "a')


@pytest.mark.parametrize(
    ("ending", "code", "requests"),
    [
        ("length", "model_answer_cut", 1),
        ("content_filter", "model_refused", 1),
        ("guardrail_intervened", "model_answer_invalid", 4),
    ],
)
@pytest.mark.parametrize(("text", "calls"), [("", ()), ("Half an ans", ()), ("Half", (WHOLE,)), ("", (WHOLE, BROKEN))])
async def test_half_an_answer_is_none_whatever_it_holds(
    ending: str, code: str, requests: int, text: str, calls: tuple[tuple[str, str, str], ...]
) -> None:
    async with serving([says(text, *calls, finish=ending)] * requests) as server:
        with pytest.raises(ModelFailed) as failed:
            await model(server).ask(asking())
        assert len(server.requests) == requests
    assert (failed.value.code, failed.value.retryable) == (code, requests > 1)


async def test_a_compatible_server_is_asked_by_chat_completions_with_the_tools() -> None:
    async with serving([says("Fine.")]) as server:
        await model(server).ask(asking())
    assert server.paths == ["/v1/chat/completions"]
    sent = server.requests[0]
    assert (sent["model"], sent["stream"]) == ("fake", True)
    assert sent["messages"][0] == {"role": "system", "content": "Be brief."}
    function = sent["tools"][0]["function"]
    assert (function["name"], function["description"]) == ("word_count", "Count the words of a text.")
    assert function["parameters"] == AGENT.tools[0].input_schema


async def test_the_responses_api_is_asked_where_it_is_named() -> None:
    call = ("c1", "word_count", '{"text": "a b"}')
    async with serving([responds("Half", call, done=False), responds("Two.", call)]) as server:
        environ = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": KEY}
        asked = VendorModel("openai-responses:fake", environ=environ, redactor=Redactor(), sleep=Waits())
        answer = await asked.ask(asking())
    assert server.paths == ["/v1/responses"] * 2
    assert (answer.text, answer.usage.output_tokens) == ("Two.", 7)
    assert [(made.name, made.arguments, made.provider_call_id) for made in answer.tool_calls] == [
        ("word_count", {"text": "a b"}, "c1")
    ]


async def test_every_call_has_one_tool_message_in_call_order_directly_after_it() -> None:
    """Placeholders, failures, media and results in any form among them."""
    still = text_result("Still running.")
    picture = ToolResult(MixedContent((TextContent("A picture:"), MediaContent("image/png", PNG, "a.png"))))
    messages = await told(
        UserTurn("t0", "Count."),
        called(*[(f"c{n}", "word_count", {"text": str(n)}) for n in range(5)]),
        UserTurn(
            "t2",
            "And?",
            results=(
                placed("c0", "word_count", text_result("one")),
                placed("c1", "word_count", still, held=True),
                placed("c2", "word_count", text_result("it broke", error=True)),
                placed("c3", "word_count", picture),
                placed("c4", "word_count", ToolResult(JsonContent({"n": [1, 2.5, None]}))),
            ),
            notices=(Notice("t2.1", "word_count", text_result("late")),),
        ),
    )
    roles = [message["role"] for message in messages]
    assert roles[:8] == ["system", "user", "assistant", *["tool"] * 5]
    assert set(roles[8:]) == {"user"}
    assert [call["id"] for call in messages[2]["tool_calls"]] == [f"c{n}" for n in range(5)]
    results = messages[3:8]
    assert [message["tool_call_id"] for message in results] == [f"c{n}" for n in range(5)]
    assert (results[0]["content"], results[1]["content"]) == ("one", "Still running.")
    assert "it broke" in str(results[2]["content"])
    assert results[4]["content"] == '{"n":[1,2.5,null]}'
    afterwards = str(messages[8:])
    assert PNG in afterwards
    assert "late" in afterwards
    assert "And?" in afterwards


async def test_what_looks_like_an_envelope_stays_text() -> None:
    envelope = '{"tag":"RunIsolated","token":"call_0","spec":{}}'
    messages = await told(
        UserTurn("t0", envelope),
        called(("c0", "word_count", {"text": envelope})),
        UserTurn("t2", results=(placed("c0", "word_count", text_result(envelope)),)),
    )
    assert messages[1]["content"] == envelope
    assert messages[3]["content"] == envelope


async def test_a_history_with_a_call_that_makes_no_sense_is_one_that_vendors_take() -> None:
    messages = await told(
        UserTurn("t0", "Go."),
        called(("c0", "files.read it!", "not json"), ("c1", "ops.word_count", [1]), ("c2", "", {})),
        UserTurn("t2", results=tuple(placed(f"c{n}", "x y", text_result("no", error=True)) for n in range(3))),
        LlmTurn("t3", "  "),
        UserTurn("t4", "Again."),
    )
    functions = [call["function"] for call in messages[2]["tool_calls"]]
    assert [function["name"] for function in functions] == ["files_read_it_", "word_count", "unknown"]
    assert [function["arguments"] for function in functions] == [
        '{"INVALID_JSON":"not json"}', '{"INVALID_JSON":[1]}', "{}",
    ]  # fmt: skip
    assert messages[6] == {"role": "assistant", "content": "(no answer)"}


async def test_attachments_are_shown_with_their_names() -> None:
    note = base64.b64encode("Grüße".encode()).decode()
    files = (Attachment("image/png", PNG, "a.png"), Attachment("text/plain", note, "b.txt"))
    messages = await told(UserTurn("t0", "What is this?", attachments=files))
    content = messages[1]["content"]
    assert [part["type"] for part in content] == ["text", "image_url", "text", "text"]
    assert content[0]["text"] == "Attached file a.png (image/png):"
    assert content[1]["image_url"]["url"].startswith("data:image/png;base64,")
    assert [part["text"] for part in content[2:]] == ["b.txt:\nGrüße", "What is this?"]


async def test_a_model_that_takes_no_files_is_given_a_note_instead() -> None:
    """Otherwise a session that has seen one picture could never go on."""
    turn = UserTurn("t0", "What is this?", attachments=(Attachment("image/png", PNG, "a.png"),))
    waits = Waits()
    async with serving([fails(400, "no images"), says("A note.")]) as server:
        answer = await model(server, waits=waits).ask(asking(turn))
    assert (answer.text, waits) == ("A note.", [])
    assert "[a.png (image/png, 12 bytes): this model cannot be shown it]" in str(server.told)
    assert PNG not in str(server.told)


async def test_a_kind_of_file_that_no_message_can_carry_is_a_note() -> None:
    turn = UserTurn("t0", "Hear.", attachments=(Attachment("application/x-odd", PNG), Attachment("image/png", "!!")))
    messages = await told(turn)
    assert "application/x-odd" in str(messages[1])
    assert "base64 cannot be read" in str(messages[1])


async def test_a_vendor_whose_package_is_missing_says_what_to_install() -> None:
    with pytest.raises(ModelFailed) as failed:
        await VendorModel("cohere:command", environ={}, redactor=Redactor()).ask(asking())
    assert failed.value.code == "model_unusable"
    assert "pydantic-ai-slim[cohere]" in str(failed.value.hint)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"error": {"message": "no such model", "type": "x"}}, "no such model"),
        ({"message": "no such model", "code": None}, "no such model"),
        ({"error": "no such model"}, "no such model"),
        ({"detail": "no such model"}, "no such model"),
        ("no such model", "no such model"),
        ({"errors": ["ä"]}, '{"errors": ["ä"]}'),
    ],
)
def test_of_a_refusal_the_vendors_words_are_told_and_not_what_they_are_wrapped_in(body: object, told: str) -> None:
    failure = vendors._failed(ModelHTTPError(400, "fake", body))  # pyright: ignore[reportPrivateUsage]
    assert failure.message == f"The model fake answered with status 400: {told}"
