"""What a capability answered, as a model reads it."""

from typing import Any, cast

from wf_core.calls.contract import ERROR_OUTCOME
from wf_core.calls.results import (
    Content,
    JsonContent,
    MediaContent,
    MixedContent,
    TextContent,
    ToolResult,
    check_result,
)
from wf_core.errors import NotJson
from wf_core.jsonvalue import JsonValue
from wf_core.jsonvalue import storable as storable_text
from wf_mcp.execution.calls.protocol import CallComplete
from wf_mcp.sources.protocol import CallFailed, CallResult, effect_of

_TAKEN_APART = frozenset({"content", "text"})
"""The keys of an MCP result that has no structure of its own."""


def answered(answer: CallResult, outcomes: tuple[str, ...]) -> CallComplete:
    """Give what a capability answered. Which outcome it was is said where it is not the usual one."""
    error = answer.outcome == ERROR_OUTCOME
    content: Content
    if error or answer.outcome in {"ok", *outcomes[:1]}:
        content = _content(answer.output)
    else:
        content = JsonContent({"outcome": answer.outcome, "output": answer.output})
    return CallComplete(ToolResult(content, error=error), answer.outcome, answer.output)


def from_worker(result: ToolResult) -> ToolResult:
    """Give what a worker answered as if the call had been made here: ours prints the output as it is."""
    match result.content:
        case JsonContent(output) if not result.error:
            return ToolResult(_content(output))
        case _:
            return result


def storable(ended: CallComplete, capability: str, *, read_only: bool = False) -> CallComplete:
    """Give the end of a call as its session can store it, whatever came of it: as it is, or the failure that says why.

    To be asked once, where the call ends: before its result is kept, delivered or told to the session.
    """
    try:
        check_result(ended.result)
    except NotJson as bad:
        message = f"The result of {capability} cannot be stored: {bad.reason}."
        return failed("output_invalid", message, executed=ended.executed, read_only=read_only)
    return ended


def failed(code: str, message: str, *, executed: bool, read_only: bool = False) -> CallComplete:
    """Give a call that has no answer, and say whether it may have had its effect."""
    message = storable_text(message)
    effect = effect_of(executed=executed, read_only=read_only)
    result = ToolResult(TextContent(f"{code}: {message} {effect}"), error=True)
    return CallComplete(result, ERROR_OUTCOME, code=code, executed=executed, message=message)


def failure(error: CallFailed, *, read_only: bool) -> CallComplete:
    """Give a call that its source could not carry out."""
    return failed(error.code, error.message, executed=error.executed, read_only=read_only)


def _content(output: JsonValue) -> Content:
    if isinstance(output, dict):
        if output.keys() == {"result"}:
            output = output["result"]
        elif output.keys() == _TAKEN_APART and isinstance(output["content"], list):
            return _parts(cast("list[Any]", output["content"]), output)
    return TextContent(output) if isinstance(output, str) else JsonContent(output)


def _parts(parts: list[Any], whole: JsonValue) -> Content:
    found: list[Content] = []
    for part in parts:
        match part:
            case {"type": "text", "text": str(text)}:
                found.append(TextContent(text))
            case {"type": "image" | "audio", "data": str(data), "mimeType": str(mime_type)}:
                found.append(MediaContent(mime_type, data))
            case _:
                return JsonContent(whole)
    return found[0] if len(found) == 1 else MixedContent(tuple(found))
