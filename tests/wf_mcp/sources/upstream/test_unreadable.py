"""A line of a server that was meant as an answer and cannot be read."""

import json
from typing import Any

import pytest
from mcp.types import JSONRPCError, jsonrpc_message_adapter
from pydantic import ValidationError

from wf_mcp.sources.upstream.faults import UNREADABLE
from wf_mcp.sources.upstream.unreadable import as_answer


def answer(line: str) -> Any:
    with pytest.raises(ValidationError) as unreadable:
        jsonrpc_message_adapter.validate_json(line, by_name=False)
    told = as_answer(unreadable.value)
    return None if told is None else told.message


HALF = r'"\ud800"'


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"jsonrpc": "2.0", "id": 7, "result": {"x": ' + HALF + "}}", "lone surrogate"),
        ('{"result": {"id": 8, "x": [{"method": "\\"}", "y": ' + HALF + '}]}, "id": 7, "jsonrpc": "2.0"}', "surrogate"),
        ('{"id":7,"result":{"x":' + "[" * 100_000 + "]" * 100_000 + "}}", "more levels"),
        ('{"id": 7, "result": {"x": ' + "1" * 5000 + "}}", "number out of range"),
        (json.dumps({"jsonrpc": "2.0", "id": 7, "result": []}), "no message of JSON-RPC"),
        (json.dumps({"jsonrpc": "2.0", "id": 7, "error": "no"}), "no message of JSON-RPC"),
    ],
)
def test_it_is_the_failure_of_the_request_that_it_answers(line: str, reason: str) -> None:
    told = answer(line)

    assert isinstance(told, JSONRPCError)
    assert (told.id, told.error.code) == (7, UNREADABLE)
    assert reason in told.error.message


@pytest.mark.parametrize(
    "line",
    [
        '{"jsonrpc": "2.0", "id": 7, "resu',
        '{"jsonrpc": "2.0", "result": {"id": 7}, "x": ' + HALF + "}",
        '{"jsonrpc": "2.0", "id": "7", "result": {"x": ' + HALF + "}}",
        '{"jsonrpc": "2.0", "id": 7, "method": "roots/list", "result": ' + HALF + "}",
        json.dumps({"id": 7, "level": "info"}),
        json.dumps({"jsonrpc": "2.0", "id": 7, "method": 5, "result": []}),
        json.dumps({"jsonrpc": "2.0", "id": True, "result": []}),
    ],
)
def test_what_does_not_say_which_request_it_answers_is_no_failure_of_one(line: str) -> None:
    assert answer(line) is None
