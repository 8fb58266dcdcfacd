"""A line of a server that was meant as an answer and cannot be read: to which request, and why it cannot.

The SDK reads no message with half a character or of some 200 levels, however well it is framed. One whose request can
still be found becomes that request's failure; nothing of it is taken, and no other request is touched.
"""

import re
from typing import cast

from mcp.shared.message import SessionMessage
from mcp.types import ErrorData, JSONRPCError
from pydantic import ValidationError

from wf_mcp.sources.upstream.faults import UNREADABLE

_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[\]{}]', re.DOTALL)
_NUMBER = re.compile(r"\s*:\s*(\d{1,18})\s*[,}]")
_NAME_ENDS = re.compile(r"\s*:")
_TELLING = frozenset({'"method"', '"result"', '"error"'})


def as_answer(error: ValidationError) -> SessionMessage | None:
    """Give the failure of the request that an unreadable line answers. None where the line does not say which."""
    fault = error.errors(include_url=False, include_context=False)[0]
    line: object = fault["input"]
    is_text = fault["type"] == "json_invalid" and isinstance(line, str)
    request = _answered_by(line) if isinstance(line, str) else _answered(line)
    if request is None:
        return None
    reason = _reason(fault["msg"]) if is_text else "it is no message of JSON-RPC"
    return SessionMessage(JSONRPCError(jsonrpc="2.0", id=request, error=ErrorData(code=UNREADABLE, message=reason)))


def _answered(message: object) -> int | None:
    """Give the id of the request that is answered by what is JSON, but no message."""
    if not isinstance(message, dict):
        return None
    said = cast("dict[str, object]", message)
    request = said.get("id")
    # A request of the server has a method, and an id that is none of ours.
    is_answer = "method" not in said and not said.keys().isdisjoint(("result", "error"))
    return request if is_answer and isinstance(request, int) and not isinstance(request, bool) else None


def _answered_by(line: str) -> int | None:
    """Find that id in text that no parser reads: on its outermost level."""
    level, request, is_answer = 0, None, False
    for token in _TOKEN.finditer(line):
        said = token[0]
        if said in "[{":
            level += 1
        elif said in "]}":
            level -= 1
        elif level == 1 and said == '"id"' and (number := _NUMBER.match(line, token.end())):
            request = int(number[1])
        elif level == 1 and said in _TELLING and _NAME_ENDS.match(line, token.end()):
            if said == '"method"':
                return None
            is_answer = True
    return request if is_answer else None


def _reason(said: str) -> str:
    """Say in our words what the parser says, which shows nothing of the line."""
    said = said.removeprefix("Invalid JSON: ")
    if "recursion limit" in said:
        return "it has more levels than can be read"
    if "surrogate" in said or "hex escape" in said:
        return "it holds a lone surrogate, which is half a character"
    return said
