"""Results of tools: the structured answer, and the same JSON as text for hosts that show the model only text."""

import logging
from typing import Any

from mcp.types import CallToolResult, TextContent
from pydantic import BaseModel

from wf_core import jsonvalue
from wf_core.errors import WfError
from wf_mcp.config import Redactor
from wf_mcp.errors import describe
from wf_mcp.server.bounds import bounded


class ErrorView(BaseModel):
    """What a client is told of an error."""

    code: str
    message: str
    hint: str | None
    details: dict[str, Any]


class Refusal(BaseModel):
    """The answer of a tool that failed."""

    error: ErrorView


logger = logging.getLogger(__name__)


def success(answer: BaseModel) -> CallToolResult:
    """Give what an operation answered, as short as a model can read it."""
    return _result(bounded(answer.model_dump(mode="json"), type(answer)), is_error=False)


def failure(error: Exception, *, tool: str, redactor: Redactor) -> CallToolResult:
    """Give an error that the model can act on, as short as it can read it.

    One that is none of ours is logged, and nothing of it is shown.
    """
    if not isinstance(error, WfError):
        logger.error("Tool %s raised an unexpected exception", tool, exc_info=error)
    return _result(bounded({"error": describe(error, redactor.json)}, Refusal), is_error=True)


def _result(body: dict[str, Any], *, is_error: bool) -> CallToolResult:
    text = jsonvalue.dumps(body).decode("utf-8")
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=body, is_error=is_error)
