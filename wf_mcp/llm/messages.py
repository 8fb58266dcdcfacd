"""The turns of a session as the messages of pydantic-ai, in a form that every vendor takes.

Every call of the model has exactly one result, in call order, directly after it; that is the kernel's work and stays.
Here each name, id and text becomes what vendors accept: a name that the model made up, arguments that are no object, an
answer without words. What a user or a tool wrote stays text, whatever it looks like.

Importing this module loads pydantic-ai, which takes a while: only `vendors` does.
"""

import base64
import binascii
from collections.abc import Iterable, Iterator
from typing import Any, cast

from pydantic_ai.messages import (
    BinaryContent,
    ModelMessage,
    ModelRequestPart,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserContent,
    UserPromptPart,
)
from pydantic_ai.messages import ModelRequest as RequestMessage
from pydantic_ai.tools import ToolDefinition as VendorTool

from wf_core.calls.naming import LONGEST_NAME, spelled
from wf_core.calls.policy import ToolCall
from wf_core.calls.results import Content, JsonContent, MediaContent, MixedContent, TextContent
from wf_core.jsonvalue import JsonValue, dumps
from wf_core.sessions.models import AgentSnapshot, Attachment, LlmTurn, Notice, ToolDefinition, UserTurn
from wf_mcp.llm.protocol import ModelRequest


def messages(request: ModelRequest, *, media: bool = True) -> list[ModelMessage]:
    """Give the whole conversation, the system prompt with its last message.

    Without `media` a note stands for each file: for a model that takes none.
    """
    agent = request.session.agent
    told: list[ModelMessage] = []
    for turn in request.turns:
        match turn:
            case UserTurn():
                parts = [*_results(turn, agent, media=media), *_words(turn, media=media)]
                told.append(RequestMessage(parts=parts, instructions=request.system_prompt or None))
            case LlmTurn():
                told.append(_answer(turn, agent))
            case _:
                raise ValueError(f"the calls of turn {turn.id} have not all ended")
    return told


def tools(definitions: Iterable[ToolDefinition]) -> list[VendorTool]:
    """Describe tools as vendors take them: the input is always an object."""
    return [
        VendorTool(
            name=tool.name,
            description=tool.description or None,
            parameters_json_schema=_object_schema(tool.input_schema),
            strict=False,
        )
        for tool in definitions
    ]


def has_files(told: Iterable[ModelMessage]) -> bool:
    """Tell whether messages hold what is not text."""
    parts = (part for message in told for part in message.parts if isinstance(part, UserPromptPart | ToolReturnPart))
    contents = (cast("Any", part.content) for part in parts)
    return any(
        isinstance(item, BinaryContent)
        for content in contents
        for item in (content if isinstance(content, list) else [content])  # pyright: ignore[reportUnknownVariableType]
    )


def safe_name(name: str, agent: AgentSnapshot) -> str:
    """Give the name under which a call stands in the history; a model may have made it up."""
    if tool := agent.tool(name):
        return tool.name
    return spelled(name)[:LONGEST_NAME] or "unknown"


def _answer(turn: LlmTurn, agent: AgentSnapshot) -> ModelResponse:
    calls = [
        ToolCallPart(safe_name(call.name, agent), _arguments(call), tool_call_id=call.provider_call_id)
        for call in turn.tool_calls
    ]
    # Some vendors refuse an answer that holds nothing, or nothing but spaces.
    words = [TextPart(turn.text)] if turn.text.strip() else [] if calls else [TextPart("(no answer)")]
    return ModelResponse(parts=[*words, *calls])


def _arguments(call: ToolCall) -> dict[str, JsonValue]:
    """Give an object: some vendors parse the arguments in a history, and refuse all of it for one that is none."""
    return call.arguments if isinstance(call.arguments, dict) else {"INVALID_JSON": call.arguments}


def _results(turn: UserTurn, agent: AgentSnapshot, *, media: bool) -> Iterator[ModelRequestPart]:
    for placed in turn.results:
        parts = list(_contents(placed.result.content, media=media))
        yield ToolReturnPart(
            tool_name=safe_name(placed.name, agent),
            content=parts[0] if len(parts) == 1 else parts,
            tool_call_id=placed.provider_call_id,
            outcome="failed" if placed.result.error else "success",
        )


def _words(turn: UserTurn, *, media: bool) -> Iterator[UserPromptPart]:
    """Give what no call asked for as the user's words: late results, files, and the query last."""
    said: list[UserContent] = []
    for notice in turn.notices:
        said += _notice(notice, media=media)
    for attachment in turn.attachments:
        said += _attachment(attachment, media=media)
    if turn.query is not None and turn.query.strip():
        said.append(turn.query)
    if said or not turn.results:
        texts = [each for each in said if isinstance(each, str)]
        # Some servers take nothing but one text.
        yield UserPromptPart(said if len(texts) < len(said) else "\n\n".join(texts) or "(no words)")


def _notice(notice: Notice, *, media: bool) -> Iterator[UserContent]:
    first, *rest = _contents(notice.result.content, media=media)
    if notice.held and isinstance(first, str):
        yield f"The earlier call {notice.call_id} of {notice.name} is in doubt.\n{first}"
        return
    ended = "failed" if notice.result.error else "has ended"
    opening = f"The earlier call {notice.call_id} of {notice.name} {ended}."
    if isinstance(first, str):
        yield f"{opening} Its result:\n{first}"
    else:
        yield f"{opening} Its result follows."
        yield first
    yield from rest


def _attachment(attachment: Attachment, *, media: bool) -> Iterator[UserContent]:
    file = _file(attachment.mime_type, attachment.base64_data, attachment.filename, media=media)
    if attachment.filename and not isinstance(file, str):
        yield f"Attached file {attachment.filename} ({attachment.mime_type}):"
    yield file


def _contents(content: Content, *, media: bool) -> Iterator[str | BinaryContent]:
    """Give text and files in order, at least one."""
    match content:
        case TextContent():
            yield content.content
        case JsonContent():
            yield dumps(content.content).decode()
        case MediaContent():
            yield _file(content.mime_type, content.base64_data, content.filename, media=media)
        case MixedContent():
            if not content.parts:
                yield ""
            for part in content.parts:
                yield from _contents(part, media=media)


def _file(mime_type: str, base64_data: str, filename: str | None, *, media: bool) -> str | BinaryContent:
    try:
        data = base64.b64decode(base64_data, validate=True)
    except (binascii.Error, ValueError):
        return f"[{filename or 'file'} ({mime_type}): its base64 cannot be read]"
    if mime_type.startswith("text/"):
        text = data.decode(errors="replace")
        return f"{filename}:\n{text}" if filename else text
    if not media or not data:
        return f"[{filename or 'file'} ({mime_type}, {len(data)} bytes): this model cannot be shown it]"
    return BinaryContent(data, media_type=mime_type)


def _object_schema(schema: JsonValue) -> dict[str, JsonValue]:
    if not isinstance(schema, dict):
        return {"type": "object", "properties": {}}
    return schema if schema.get("type") == "object" else {**schema, "type": "object"}
