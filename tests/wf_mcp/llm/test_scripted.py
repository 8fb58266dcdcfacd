"""A model that plays a script."""

import json
import os
from pathlib import Path

import anyio
import pytest

from tests.wf_mcp.llm.asking import asking, called, placed
from wf_core.calls.results import text_result
from wf_core.errors import BrokenHistory
from wf_core.sessions.models import UserTurn
from wf_mcp.llm.protocol import ModelFailed
from wf_mcp.llm.scripted import ScriptedModel

pytestmark = pytest.mark.anyio

CALLING = {"text": "One moment.", "toolCalls": [{"name": "word_count", "arguments": {"text": "{{query}}"}, "id": "c9"}]}
ENDING = {"text": "Done:\n{{results}}", "usage": {"inputTokens": 3, "output_tokens": 4}}


@pytest.fixture
def script(tmp_path: Path) -> Path:
    file = tmp_path / "script.json"
    file.write_text(json.dumps({"answers": [CALLING, ENDING]}))
    return file


async def test_the_session_says_which_answer_comes_next(script: Path) -> None:
    first = await ScriptedModel(script).ask(asking(UserTurn("t0", "a {{results}} b")))
    assert (first.text, first.tool_calls[0].provider_call_id) == ("One moment.", "c9")
    assert first.tool_calls[0].arguments == {"text": "a {{results}} b"}
    results = tuple(placed(call_id, "word_count", text_result(f"{{{{query}}}} {call_id}")) for call_id in ("c0", "c1"))
    turn = UserTurn("t2", results=results)
    calls = called(("c0", "word_count", {}), ("c1", "word_count", {}))
    second = await ScriptedModel(script).ask(asking(UserTurn("t0", "Go."), calls, turn))
    assert second.text == "Done:\n- word_count: {{query}} c0\n- word_count: {{query}} c1"
    assert (second.usage.input_tokens, second.usage.output_tokens) == (3, 4)


async def test_a_history_that_a_vendor_would_refuse_is_refused(script: Path) -> None:
    with pytest.raises(BrokenHistory):
        await ScriptedModel(script).ask(
            asking(UserTurn("t0", "Go."), called(("c1", "x", {})), UserTurn("t2", "Go on."))
        )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (None, "cannot be read"),
        ("{", "no JSON"),
        ('{"answers": [{"txt": "a"}]}', "unknown key answers[0].txt (did you mean text?)"),
        ('{"answers": [{"toolCalls": [{}]}]}', "answers[0].toolCalls[0].name is missing"),
        ('{"answers": []}', "has 0 answers"),
    ],
)
async def test_a_script_that_cannot_be_played_says_why(tmp_path: Path, text: str | None, told: str) -> None:
    file = tmp_path / "script.json"
    if text is not None:
        file.write_text(text)
    with pytest.raises(ModelFailed) as failed:
        await ScriptedModel(file).ask(asking())
    assert failed.value.code == "model_unusable"
    assert told in failed.value.message
    assert str(tmp_path) not in str(failed.value)


@pytest.mark.parametrize(
    ("ending", "code", "retryable"),
    [
        ("length", "model_answer_cut", False),
        ("content_filter", "model_refused", False),
        ("error", "model_unavailable", True),
    ],
)
async def test_an_answer_that_is_not_whole_is_none(tmp_path: Path, ending: str, code: str, retryable: bool) -> None:
    file = tmp_path / "script.json"
    file.write_text(json.dumps({"answers": [{**CALLING, "finishReason": ending}]}))
    with pytest.raises(ModelFailed) as failed:
        await ScriptedModel(file).ask(asking())
    assert (failed.value.code, failed.value.retryable) == (code, retryable)


async def test_a_script_that_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for file, told in (
        (tmp_path / "pipe", "nobody writes to"),
        (Path("/dev/zero"), "a device"),
        (tmp_path, "Is a dir"),
    ):
        with anyio.fail_after(5), pytest.raises(ModelFailed, match=told):
            await ScriptedModel(file).ask(asking())


async def test_a_script_that_was_changed_is_read_again(script: Path) -> None:
    model = ScriptedModel(script)
    assert (await model.ask(asking())).text == "One moment."
    await anyio.Path(script).write_text('{"answers": [{"text": "Another one."}]}')
    assert (await model.ask(asking())).text == "Another one."


async def test_a_model_may_think_for_a_while(tmp_path: Path) -> None:
    file = tmp_path / "script.json"
    file.write_text('{"answers": [{"text": "Hm.", "delay_milliseconds": 60000}]}')
    with anyio.move_on_after(0.1) as scope:
        await ScriptedModel(file).ask(asking())
    assert scope.cancelled_caught
