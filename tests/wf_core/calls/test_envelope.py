"""What an isolated worker reads and prints, byte for byte, and what is wrong with everything else it may print."""

import json
from typing import Any

import pytest

from tests.wf_core.anything import nested
from tests.wf_core.calls.test_policy_data import CONTEXT
from wf_core.calls.envelope import build_request, read_response
from wf_core.calls.policy import IsolationSpec, RunIsolated, ToolCall
from wf_core.calls.results import ToolResult, json_result, text_result
from wf_core.errors import EnvelopeError
from wf_core.jsonvalue import MAX_DEPTH

CALL = ToolCall("bash", {"script": "ls"}, "a", "ops.bash")


def printed(**members: Any) -> bytes:
    return json.dumps({"token": "call_1", "status": "success", **members}).encode()


def test_a_request_is_what_the_contract_says() -> None:
    policy = RunIsolated(IsolationSpec("container", "local/bash:1", {"memory": "64m"}))
    assert build_request("call_1", CALL, CONTEXT, policy) == {
        "token": "call_1",
        "toolCall": {"name": "bash", "arguments": {"script": "ls"}},
        "contextSnapshot": {
            "sessionId": "sess_1",
            "runId": "run_1",
            "turnId": "t2",
            "conversationId": "sess_0",
            "callStack": ["planner", "helper"],
            "allowedTools": ["count", "write"],
            "parent": "sess_0",
        },
        "policy": {
            "tag": "RunIsolated",
            "spec": {"sandbox": "container", "image": "local/bash:1", "memory": "64m"},
        },
    }


@pytest.mark.parametrize(
    ("result", "read"),
    [
        ({"type": "json", "content": {"n": 1}}, json_result({"n": 1})),
        ({"type": "text", "content": "no", "error": True}, text_result("no", error=True)),
        ("as it is", text_result("as it is")),
        ('{"type": "text", "content": "x"}', text_result('{"type": "text", "content": "x"}')),
        ({"n": 1}, text_result('{"n":1}')),
        (None, text_result("null")),
    ],
)
def test_a_success_is_its_result(result: Any, read: ToolResult) -> None:
    assert read_response(b"\n " + printed(result=result) + b"\n", "call_1") == read


@pytest.mark.parametrize(("message", "text"), [("too long", "timeout: too long"), ("", "timeout")])
def test_an_error_is_a_failed_result(message: str, text: str) -> None:
    answer = printed(status="error", error={"code": "timeout", "message": message})
    assert read_response(answer, "call_1") == text_result(text, error=True)


@pytest.mark.parametrize(
    ("output", "code"),
    [
        (b"", "envelope_missing"),
        (b" \n\t", "envelope_missing"),
        (b"starting\n" + printed(result={}), "envelope_noise"),
        (printed(result={}) + b"\ndone", "envelope_noise"),
        (b"plain text", "envelope_noise"),
        (b"1 2", "envelope_noise"),
        (printed(result={}) + b"\n" + printed(result={}), "envelope_repeated"),
        (printed(result={}) + b'{"tok', "envelope_repeated"),
        (json.dumps({"token": "call_2", "status": "success", "result": {}}).encode(), "envelope_token_mismatch"),
        (printed(), "envelope_invalid"),
        (printed(status="done", result={}), "envelope_invalid"),
        (printed(status="error", error="x"), "envelope_invalid"),
        (printed(status="error", error={"code": 1, "message": "x"}), "envelope_invalid"),
        (json.dumps({"status": "success", "result": {}}).encode(), "envelope_invalid"),
        (json.dumps({"token": None, "status": "success", "result": {}}).encode(), "envelope_invalid"),
        (b"[]", "envelope_invalid"),
        (printed(result={})[:-1], "envelope_invalid"),
        (printed(result=float("nan")), "envelope_invalid"),
        (b'{"token":"call_1","token":"call_1","status":"success","result":{}}', "envelope_invalid"),
        (b"\xff\xfe{}", "envelope_noise"),
        (b"[" * 100_000, "envelope_invalid"),
    ],
)
def test_anything_else_is_told_apart(output: bytes, code: str) -> None:
    with pytest.raises(EnvelopeError) as caught:
        read_response(output, "call_1")
    assert caught.value.code == code
    assert caught.value.hint is not None
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("levels", range(MAX_DEPTH - 5, MAX_DEPTH + 3))
def test_a_result_too_deep_to_be_stored_is_no_answer_and_one_that_is_not_is_read_whole(levels: int) -> None:
    value = nested(levels)
    printed_json, printed_plain = printed(result={"type": "json", "content": value}), printed(result=value)
    if levels <= MAX_DEPTH:
        assert read_response(printed_json, "call_1") == json_result(value)
        assert read_response(printed_plain, "call_1") == text_result(json.dumps(value))
        return
    for answer in (printed_json, printed_plain):
        with pytest.raises(EnvelopeError, match=f"deeper than {MAX_DEPTH} levels") as caught:
            read_response(answer, "call_1")
        assert caught.value.code == "envelope_invalid"
