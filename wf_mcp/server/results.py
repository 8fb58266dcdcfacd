"""Results of tools: the structured answer, and the same JSON as text for hosts that show the model only text."""

import logging
from typing import Any, Final, cast

from mcp.types import CallToolResult, TextContent
from pydantic import BaseModel

from wf_core import jsonvalue
from wf_core.errors import WfError
from wf_mcp.config import Redactor
from wf_mcp.errors import describe

logger = logging.getLogger(__name__)


MOST_BYTES: Final = 32_000
"""Compact JSON of an answer: about 10,000 tokens."""

_LIMITS: Final = (16_000, 4_000, 1_000, 250)
"""Bytes that a value of a run may have: the first with which the answer is short enough."""

_VALUES: Final = frozenset({"output", "payload", "arguments", "details", "text", "result"})
"""The members of answers that hold what runs, sessions and capabilities made, of any length."""

_WORDS: Final = frozenset({"answer"})
"""The members that hold what a model said: text, of any length, that stays text."""


def success(answer: BaseModel) -> CallToolResult:
    """Give what an operation answered. Where it is too long for a model, the longest values in it are shortened."""
    return _result(_bounded(answer.model_dump(mode="json")), is_error=False)


def failure(error: Exception, *, tool: str, redactor: Redactor) -> CallToolResult:
    """Give an error that the model can act on. One that is none of ours is logged, and nothing of it is shown."""
    if not isinstance(error, WfError):
        logger.error("Tool %s raised an unexpected exception", tool, exc_info=error)
    return _result({"error": describe(error, redactor.json)}, is_error=True)


def _bounded(body: dict[str, Any]) -> dict[str, Any]:
    short = body
    for limit in _LIMITS:
        if jsonvalue.size(short) <= MOST_BYTES:
            break
        short = _shortened(body, limit)
    return short


def _shortened(body: Any, limit: int) -> Any:
    match body:
        case dict():
            members = cast("dict[str, Any]", body).items()
            return {key: _member(key, item, limit) for key, item in members}
        case list():
            return [_shortened(item, limit) for item in cast("list[Any]", body)]
        case _:
            return body


def _member(key: str, item: Any, limit: int) -> Any:
    if key in _VALUES:
        return jsonvalue.shorten(item, limit)
    if key in _WORDS and isinstance(item, str) and len(item) > limit:
        return f"{item[:limit]} … ({len(item)} characters in all; `wf session show --json` gives them)"
    return _shortened(item, limit)


def _result(body: dict[str, Any], *, is_error: bool) -> CallToolResult:
    text = jsonvalue.dumps(body).decode("utf-8")
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=body, is_error=is_error)
