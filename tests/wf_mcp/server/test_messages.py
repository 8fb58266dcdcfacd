"""What is no message is answered, whatever it is."""

from typing import Any

import pytest

from wf_mcp.server.messages import fault

CALL = b'{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"id":9,"name":"list_runs","arguments":%s}}\n'

UNREADABLE: dict[str, bytes] = {
    "an integer of 5000 digits": b"9" * 5000,
    "lone surrogate": rb'{"deployment_id":"\ud800"}',
    "no UTF-8": b'{"deployment_id":"\xff"}',
    "too deep": b'{"cursor":' + b"[" * 400 + b"]" * 400 + b"}",
    "unfinished": b'{"cursor":',
}


def answer_to(line: bytes) -> dict[str, Any]:
    refused = fault(line)
    assert refused is not None
    return refused.model_dump(mode="json", exclude_unset=True)


@pytest.mark.parametrize("arguments", UNREADABLE.values(), ids=UNREADABLE)
@pytest.mark.parametrize(("written", "meant"), [(b"7", 7), (b'"seven"', "seven")])
def test_a_request_that_cannot_be_read_is_answered_under_its_id(arguments: bytes, written: bytes, meant: Any) -> None:
    answer = answer_to(CALL % (written, arguments))
    assert (answer["id"], answer["error"]["code"]) == (meant, -32700)


@pytest.mark.parametrize(
    "line",
    [
        b"hello",
        b"{",
        b'"' * 3,
        b'{"params":{"id":3,"method":"x"},',
        b'{"id":3,"result":{"a":"\\ud800"}}',
        b'{"id":1.5,"method":"x","params":"\\ud800"}',
        b'{"id":[3],"method":"x","params":"\\ud800"}',
    ],
)
def test_what_has_no_id_of_a_request_is_answered_without_one(line: bytes) -> None:
    answer = answer_to(line)
    assert (answer["id"], answer["error"]["code"]) == (None, -32700)


@pytest.mark.parametrize("line", [b"[]", b"{}", b"3", b'{"jsonrpc":"1.0","id":3,"method":"x"}'])
def test_json_that_is_no_message_is_an_invalid_request(line: bytes) -> None:
    assert answer_to(line)["error"]["code"] == -32600


def test_a_long_line_costs_its_length() -> None:
    """Quotes that are never closed: a pattern that goes back would take hours."""
    assert answer_to(b'{"id":3,"method":"x","params":"' + b'\\"a' * 1_000_000)["id"] == 3


@pytest.mark.parametrize("written", [b"null", b"1.5", b"[1]", b'{"a":1}', b"true"])
def test_a_request_whose_id_cannot_be_one_is_an_invalid_request(written: bytes) -> None:
    """JSON-RPC 2.0: what has an id is no notification."""
    answer = answer_to(CALL % (written, b"{}"))
    assert (answer["id"], answer["error"]["code"]) == (None, -32600)
    assert "id" in answer["error"]["message"]


@pytest.mark.parametrize(
    "line",
    [
        CALL % (b"7", b"{}"),
        b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"id":null}}',
        b'{"jsonrpc":"2.0","id":"a","result":{}}',
        b'{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}',
    ],
)
def test_a_message_is_no_fault(line: bytes) -> None:
    assert fault(line) is None
