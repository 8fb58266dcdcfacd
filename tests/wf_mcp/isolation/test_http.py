"""Calls by a function behind real HTTP."""

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from tests.wf_mcp.isolation.calls import TOKEN, execute
from tests.wf_mcp.isolation.functions import Functions, serving
from wf_core.calls.policy import IsolationSpec
from wf_core.calls.results import JsonContent, ToolResult
from wf_mcp.config import Redactor
from wf_mcp.isolation import DeploymentRunner, IsolationError, open_runner

pytestmark = pytest.mark.anyio

SECRET = "hush-hush-1"


@pytest.fixture
def functions() -> Generator[Functions]:
    with serving() as functions:
        yield functions


def runner(url: str, **settings: Any) -> DeploymentRunner:
    config: dict[str, Any] = {"url": url, "headers": {"authorization": "Bearer ${KEY}"}, **settings}
    return open_runner(
        config,
        folder=Path(),
        redactor=Redactor(),
        environ={"KEY": SECRET, "BAD": "two\nlines"},
    )


async def test_the_envelope_is_posted_and_its_answer_read(functions: Functions) -> None:
    result = await execute(runner(functions.url("ok")), "fetch", {"url": "x"})
    assert result == ToolResult(JsonContent({"how": "ok"}))
    path, headers, body = functions.asked[0]
    assert path == "/ok"
    assert headers["authorization"] == f"Bearer {SECRET}"
    assert headers["content-type"] == "application/json"
    assert body["token"] == TOKEN
    assert body["toolCall"] == {"name": "fetch", "arguments": {"url": "x"}}
    assert body["contextSnapshot"]["sessionId"] == "sess_1"
    assert body["policy"]["tag"] == "RunIsolated"


@pytest.mark.parametrize(
    ("path", "code", "executed", "says"),
    [
        ("status/400", "isolation_failed", False, "HTTP 400 Bad Request, saying: because of \\[redacted\\]"),
        ("status/404", "isolation_failed", False, "HTTP 404"),
        ("status/429", "isolation_failed", False, "HTTP 429"),
        ("status/408", "isolation_failed", True, "HTTP 408"),
        ("status/500", "isolation_failed", True, "HTTP 500"),
        ("status/204", "isolation_output_invalid", True, "printed nothing"),
        ("elsewhere", "isolation_failed", True, "redirects are not followed"),
        ("other-token", "isolation_output_invalid", True, "another token"),
        ("empty", "isolation_output_invalid", True, "printed nothing"),
        ("huge", "isolation_output_too_large", True, "more than 16000000 bytes"),
        ("cut", "isolation_failed", True, "broke"),
    ],
)
async def test_every_bad_answer_says_whether_the_call_may_have_had_effects(
    functions: Functions, path: str, code: str, executed: bool, says: str
) -> None:
    with pytest.raises(IsolationError, match=says) as caught:
        await execute(runner(functions.url(path)))
    assert (caught.value.code, caught.value.executed) == (code, executed)
    assert SECRET not in str(caught.value)
    assert len(functions.asked) == 1


async def test_a_function_that_is_silent_is_given_up(functions: Functions) -> None:
    with pytest.raises(IsolationError, match=r"after 0\.5 seconds") as caught:
        await execute(runner(functions.url("silent")), timeout_seconds=0.5)
    assert (caught.value.code, caught.value.executed) == ("isolation_timeout", True)


@pytest.mark.parametrize(
    ("url", "settings", "says"),
    [
        ("http://127.0.0.1:9/secret-path", {}, "Nothing answers at 127.0.0.1:9"),
        ("http://127.0.0.1:port/", {}, "cannot be sent"),
        ("http://127.0.0.1:9/${MISSING}", {}, "needs MISSING from the environment"),
    ],
)
async def test_what_was_not_sent_has_certainly_not_acted(url: str, settings: dict[str, Any], says: str) -> None:
    with pytest.raises(IsolationError, match=says) as caught:
        await execute(runner(url, **settings))
    assert (caught.value.code, caught.value.executed) == ("isolation_unavailable", False)
    assert "secret-path" not in str(caught.value)


@pytest.mark.parametrize("value", ["${BAD}", "naïve ☃"])
async def test_a_header_that_cannot_be_sent_has_stopped_the_call(functions: Functions, value: str) -> None:
    with pytest.raises(IsolationError, match="cannot be sent") as caught:
        await execute(runner(functions.url("ok"), headers={"x": value}))
    assert (caught.value.code, caught.value.executed) == ("isolation_unavailable", False)
    assert functions.asked == []


async def test_a_spec_may_name_the_function(functions: Functions) -> None:
    spec = IsolationSpec("http", options={"url": functions.url("ok")})
    result = await execute(open_runner(None, folder=Path(), redactor=Redactor()), spec=spec)
    assert result == ToolResult(JsonContent({"how": "ok"}))
    with pytest.raises(IsolationError, match="url is missing, which http needs"):
        await execute(open_runner(None, folder=Path(), redactor=Redactor()), spec=IsolationSpec("http"))
