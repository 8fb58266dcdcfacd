"""Asking patiently, over real HTTP: what is tried again, how long, and what an error shows."""

import logging
import subprocess
import sys

import anyio
import pytest

from tests.wf_mcp.llm.asking import KEY, Waits, asking, model
from tests.wf_mcp.llm.openai_server import Reply, breaks, cut_after, fails, never, says, serving
from wf_mcp.config import Redactor
from wf_mcp.llm.models import Patience, VendorModel, secrets_of
from wf_mcp.llm.protocol import ModelAnswer, ModelFailed

pytestmark = pytest.mark.anyio


async def ask(*replies: Reply, patience: Patience | None = None) -> tuple[ModelAnswer | ModelFailed, list[float]]:
    """Ask once; give the answer or the error, and the waits."""
    waits = Waits()
    async with serving(replies) as server:
        try:
            answer = await model(server, waits=waits, patience=patience).ask(asking())
        except ModelFailed as error:
            answer = error
        assert server.replies == []
        return answer, waits


async def test_a_streamed_answer_is_put_together() -> None:
    answer, waits = await ask(says("Two words.", ("c1", "word_count", '{"text": "a b"}')))
    assert isinstance(answer, ModelAnswer)
    assert answer.text == "Two words."
    assert [(call.name, call.arguments, call.provider_call_id) for call in answer.tool_calls] == [
        ("word_count", {"text": "a b"}, "c1")
    ]
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (11, 7)
    assert waits == []


async def test_too_many_requests_are_repeated_when_the_vendor_says() -> None:
    answer, waits = await ask(
        fails(429, "slow down", code="rate_limit_exceeded", headers="Retry-After: 7\r\n"), says("Here.")
    )
    assert isinstance(answer, ModelAnswer)
    assert waits == [7.0]


async def test_a_vendor_that_asks_for_too_long_is_not_waited_for() -> None:
    error, waits = await ask(fails(429, "later", headers="Retry-After: 3600\r\n"))
    assert isinstance(error, ModelFailed)
    assert (error.code, error.retryable, error.details["retry_after_seconds"]) == ("model_unavailable", True, 3600.0)
    assert waits == []


async def test_servers_in_trouble_are_asked_again_ever_later_but_not_for_ever() -> None:
    error, waits = await ask(*[fails(500, "oops")] * 4)
    assert isinstance(error, ModelFailed)
    assert (error.code, error.retryable, error.details["status"]) == ("model_unavailable", True, 500)
    assert error.details["attempts"] == 4
    assert waits == [1.0, 2.0, 4.0]


async def test_exhausted_quota_is_not_tried_again() -> None:
    error, _ = await ask(fails(429, "pay first", code="insufficient_quota"))
    assert isinstance(error, ModelFailed)
    assert (error.code, error.retryable) == ("model_refused", False)


@pytest.mark.parametrize(
    ("status", "hint"),
    [(400, "Another model"), (401, "key"), (403, "key"), (404, "model's name"), (422, "Another model")],
)
async def test_a_refused_request_is_not_tried_again(status: int, hint: str) -> None:
    error, waits = await ask(fails(status, "not this"))
    assert isinstance(error, ModelFailed)
    assert (error.code, error.retryable, waits) == ("model_refused", False, [])
    assert error.message == f"The model fake answered with status {status}: not this"
    assert hint in str(error.hint)


async def test_a_connection_that_is_cut_in_the_middle_is_made_anew_and_half_an_answer_is_forgotten() -> None:
    answer, waits = await ask(cut_after("Half an"), says("Whole."))
    assert isinstance(answer, ModelAnswer)
    assert (answer.text, waits) == ("Whole.", [1.0])


async def test_an_answer_that_ends_without_saying_so_was_cut() -> None:
    answer, _ = await ask(says("Half", ("c1", "word_count", '{"te'), done=False), says("Whole."))
    assert isinstance(answer, ModelAnswer)
    assert (answer.text, answer.tool_calls) == ("Whole.", ())


async def test_an_error_in_the_middle_of_an_answer_is_one_of_its_kind() -> None:
    answer, waits = await ask(breaks("server_error"), breaks("rate_limit_exceeded"), says("Whole."))
    assert isinstance(answer, ModelAnswer)
    assert (answer.text, len(waits)) == ("Whole.", 2)
    error, _ = await ask(breaks("insufficient_quota"))
    assert isinstance(error, ModelFailed)
    assert error.code == "model_refused"


async def test_a_server_that_is_not_there_is_unavailable() -> None:
    async with serving([]) as server:
        pass
    with pytest.raises(ModelFailed) as failed:
        await model(server, patience=Patience(attempts=2)).ask(asking())
    assert (failed.value.code, failed.value.retryable) == ("model_unavailable", True)


async def test_a_slow_first_word_is_waited_for_within_bounds() -> None:
    patience = Patience(attempts=2, first_word_seconds=1.0)
    with anyio.fail_after(20):
        answer, waits = await ask(never, says("At last."), patience=patience)
        assert isinstance(answer, ModelAnswer)
        assert len(waits) == 1
        error, _ = await ask(never, never, patience=patience)
    assert isinstance(error, ModelFailed)
    assert (error.code, "in time" in error.message) == ("model_unavailable", True)


async def test_an_empty_answer_is_asked_for_again() -> None:
    answer, _ = await ask(says(""), says("Here."))
    assert isinstance(answer, ModelAnswer)
    assert answer.text == "Here."
    error, _ = await ask(*[says("")] * 4)
    assert isinstance(error, ModelFailed)
    assert (error.code, error.retryable) == ("model_answer_invalid", True)


async def test_cancelling_gives_the_request_up_at_once() -> None:
    async with serving([never]) as server:
        with anyio.move_on_after(0.5) as scope:
            await model(server).ask(asking())
    assert scope.cancelled_caught


async def test_a_key_is_in_no_log_and_no_error(caplog: pytest.LogCaptureFixture) -> None:
    """A vendor that repeats the key, and every logger at its most talkative."""
    redactor = Redactor()
    echo = f"Incorrect API key provided: {KEY}"
    errors: list[ModelFailed] = []
    with caplog.at_level(logging.DEBUG):
        for name in list(logging.root.manager.loggerDict):
            caplog.set_level(logging.DEBUG, name)
        async with serving([fails(500, echo, headers=f"X-Echo: {KEY}\r\n"), says("Fine."), fails(401, echo)]) as server:
            asked = model(server, redactor=redactor)
            await asked.ask(asking())
            with pytest.raises(ModelFailed) as failed:
                await asked.ask(asking())
            errors.append(failed.value)
        # A key as part of the address, where nobody answers.
        server.url = server.url.replace("//", f"//user:{KEY}-too@")
        with pytest.raises(ModelFailed) as failed:
            await model(server, redactor=redactor).ask(asking())
        errors.append(failed.value)
    shown = "".join(f"{each} {each.details} {each.__cause__} {each.__context__}" for each in errors)
    assert "Incorrect API key provided" in shown
    assert KEY not in shown + caplog.text
    assert any(record.name.startswith("httpcore2") for record in caplog.records)
    assert set(server.keys) == {f"Bearer {KEY}"}


async def test_a_key_that_a_model_says_is_not_passed_on() -> None:
    answer, _ = await ask(says(f"It is {KEY}.", ("c1", "word_count", f'{{"text": "{KEY}"}}')))
    assert isinstance(answer, ModelAnswer)
    assert (answer.text, answer.tool_calls[0].arguments) == ("It is [redacted].", {"text": "[redacted]"})


def test_the_keys_of_an_environment_are_known_by_their_names() -> None:
    environ = {
        "OPENAI_API_KEY": "sk-123456789", "AWS_SECRET_ACCESS_KEY": "abcdefghij", "HF_TOKEN": "hf_abcdefgh",
        "OPENAI_BASE_URL": "https://me:secretword@host/v1", "HOME": "/home/somebody", "OLLAMA_API_KEY": "none",
    }  # fmt: skip
    assert secrets_of(environ) == ["sk-123456789", "abcdefghij", "hf_abcdefgh", "me:secretword", "secretword"]


async def test_a_vendor_nobody_knows_is_named() -> None:
    asked = VendorModel("opanai:gpt", environ={}, redactor=Redactor())
    with pytest.raises(ModelFailed) as failed:
        await asked.ask(asking())
    assert (failed.value.code, failed.value.retryable) == ("model_unusable", False)
    assert "opanai" in failed.value.message


async def test_a_missing_key_is_said_before_anything_is_sent() -> None:
    with pytest.raises(ModelFailed) as failed:
        await VendorModel("openai:gpt-5.1", environ={}, redactor=Redactor()).ask(asking())
    assert failed.value.code == "model_unusable"
    assert "OPENAI_API_KEY" in failed.value.message


async def test_a_missing_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "wf_mcp.llm.vendors", raising=False)
    monkeypatch.setitem(sys.modules, "pydantic_ai.direct", None)
    with pytest.raises(ModelFailed) as failed:
        await VendorModel("openai:gpt-5.1", environ={}, redactor=Redactor()).ask(asking())
    assert failed.value.code == "model_unusable"
    assert failed.value.hint is not None
    assert "wf-mcp[llm]" in failed.value.hint


def test_nothing_of_it_is_loaded_before_a_model_is_asked() -> None:
    code = "import sys, wf_mcp.llm; print([name for name in ('pydantic_ai', 'openai') if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
