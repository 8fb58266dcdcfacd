"""What a client sent, where it is no message: the protocol's own error for it, whatever it came on."""

import re
from typing import Any, Final

from mcp.types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    RequestId,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

_TOKEN: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{},:]|[^\s\[\]{}",:]++', re.DOTALL)
"""A piece of JSON text, also of one that does not end. It never goes back, so a long line costs its length."""


def fault(text: bytes) -> JSONRPCError | None:
    """Give the answer to what is no message. None: it is one."""
    try:
        message = jsonrpc_message_adapter.validate_json(text, by_name=False)
    except ValidationError as error:
        return refusal(error)
    return no_request() if isinstance(message, JSONRPCNotification) and has_id(text) else None


def refusal(fault: Exception) -> JSONRPCError:
    """Answer a text that is no message, under the id of the request that it seems to be."""
    line, message = "", "This is no JSON that can be read."
    if isinstance(fault, ValidationError):
        problem = fault.errors(include_url=False)[0]
        if problem["type"] == "json_invalid":
            given: Any = problem["input"]
            line = given.decode(errors="replace") if isinstance(given, bytes) else str(given)
            message = f"{message[:-1]}: {problem.get('ctx', {}).get('error', problem['msg'])}."
        else:
            return no_request("This is no JSON-RPC message.")
    return JSONRPCError(jsonrpc="2.0", id=_request_id(line), error=ErrorData(code=PARSE_ERROR, message=message))


def no_request(message: str = "The id of a request is text or a whole number.") -> JSONRPCError:
    """Answer JSON that is no message."""
    return JSONRPCError(jsonrpc="2.0", id=None, error=ErrorData(code=INVALID_REQUEST, message=message))


def has_id(text: bytes) -> bool:
    """Tell whether what was read as a notification is a request whose id cannot be one."""
    return b'"id"' in text and any(name == '"id"' for name, _ in _members(text.decode(errors="replace")))


def _request_id(line: str) -> RequestId | None:
    """Find the id of a request in text that may be anything. None when there is none to be read."""
    members = dict(_members(line))
    found = members.get('"id"', "")
    if '"method"' not in members:
        return None
    if found.startswith('"'):
        return found[1:-1] if "\\" not in found else None
    return int(found) if re.fullmatch(r"-?\d{1,18}", found) else None


def _members(line: str) -> list[tuple[str, str]]:
    """Give the members of the outermost object, as far as keys and values are single pieces."""
    depth = 0
    found: list[tuple[str, str]] = []
    before: tuple[str, str] = ("", "")
    for piece in (match[0] for match in _TOKEN.finditer(line)):
        if depth == 1 and before[1] == ":":
            found.append((before[0], piece))
        depth += (piece in "[{") - (piece in "]}")
        before = (before[1], piece)
    return found
