"""Tools of an MCP server as capabilities, and their results as outputs."""

from collections.abc import Iterable, Mapping
from typing import Any

from mcp.types import CallToolResult, ContentBlock, TextContent, Tool, ToolAnnotations

from wf_artifacts.sources.models import Capability, contract_digest
from wf_core.calls.contract import ERROR_OUTCOME, Contract, Hints
from wf_core.schemas import schema_issues
from wf_mcp.config import HintOverride, Redactor
from wf_mcp.sources.boundary import presentable, take_in
from wf_mcp.sources.errors import CallFailed
from wf_mcp.sources.protocol import CallResult, Diagnostic
from wf_mcp.sources.upstream.listings import NAMELESS, fault_of

OK_OUTCOME = "ok"


def read_tools(
    source: str, tools: Iterable[Tool], overrides: Mapping[str, HintOverride], redactor: Redactor
) -> tuple[dict[str, Capability], list[Diagnostic]]:
    """Give the capabilities that the tools are, by name, and why a tool is none.

    Of several tools with one name none is: which of them a call would reach is for the server alone to know.
    """
    offered: dict[str, Capability] = {}
    diagnostics: list[Diagnostic] = []
    listed = _by_name(tools)
    for name, (tool, *namesakes) in listed.items():
        shown = redactor.text(name)
        try:
            if shown != name:
                raise _Unusable("its name holds a secret")
            if namesakes:
                raise _Unusable(f"the server lists {len(namesakes) + 1} different tools of this name")
            offered[name] = _capability(source, tool, overrides.get(name, HintOverride()), redactor)
        except _Unusable as unusable:
            full_name = shown if shown == NAMELESS else f"{source}.{shown}"
            diagnostics.append(Diagnostic("error", "invalid_capability", f"{full_name} is not offered: {unusable}."))
    for name in sorted(set(overrides) - set(listed)):
        message = f"wf.json has hints for {source}.{name}, which the server does not offer."
        diagnostics.append(Diagnostic("warning", "unknown_capability", message))
    return offered, diagnostics


def read_result(tool: str, result: CallToolResult, redactor: Redactor, *, is_structured: bool) -> CallResult:
    """Give the outcome and output that a result means; `is_structured` when the tool declares an output schema.

    Whether the output fits that schema is for those to say who know which contract holds.

    Raises:
        CallFailed: `output_invalid`: it holds what is no JSON, or lacks the structured content that was declared.
    """
    content: list[dict[str, Any]] = [
        block.model_dump(mode="json", by_alias=True, exclude_none=True) for block in result.content
    ]
    text = _text(result.content)
    if result.is_error:
        message = text or f"{tool} failed and did not say why."
        return CallResult(ERROR_OUTCOME, take_in({"message": message, "content": content}, redactor))
    has_structure = result.structured_content is not None or "structured_content" in result.model_fields_set
    if is_structured and not has_structure:
        message = f"{tool} declares an output schema, and answered without structured content."
        raise CallFailed("output_invalid", message, executed=True)
    output = result.structured_content if has_structure else {"content": content, "text": text}
    return CallResult(OK_OUTCOME, take_in(output, redactor))


class _Unusable(Exception):
    """A tool cannot be offered; the text says why, as the end of a sentence."""


def _by_name(tools: Iterable[Tool]) -> dict[str, list[Tool]]:
    """Group tools that differ in anything by their names. Servers that list by pages may well list one twice."""
    listed: dict[str, list[Tool]] = {}
    for tool in tools:
        namesakes = listed.setdefault(tool.name, [])
        if tool not in namesakes:
            namesakes.append(tool)
    return listed


def _capability(source: str, tool: Tool, override: HintOverride, redactor: Redactor) -> Capability:
    if (fault := fault_of(tool)) is not None:
        raise _Unusable(f"the server does not describe it as MCP asks: {_end(presentable(fault, redactor))}")
    contract = Contract(
        input_schema=_schema(tool.input_schema, redactor),
        # Without a declared schema, what a tool gives as structured content may be anything.
        output_schema=_schema(tool.output_schema or {}, redactor),
        outcomes=(OK_OUTCOME, ERROR_OUTCOME),
        hints=_hints(tool.annotations or ToolAnnotations(), override),
    )
    title = tool.title or (tool.annotations and tool.annotations.title) or tool.name
    return Capability(
        source,
        tool.name,
        title=redactor.text(title),
        description=redactor.text(tool.description or ""),
        contract=contract,
        digest=contract_digest(contract),
    )


def _schema(schema: Mapping[str, Any], redactor: Redactor) -> dict[str, Any]:
    try:
        taken: Any = take_in(dict(schema), redactor, "schema")
    except CallFailed as exc:
        raise _Unusable(f"its schema is no JSON: {_end(exc.message)}") from exc
    for issue in schema_issues(taken):
        raise _Unusable(f"its schema cannot be used: {_end(presentable(issue.message, redactor))}")
    return taken


def _end(sentence: str) -> str:
    """Give a sentence as the end of another, which brings its own full stop."""
    return sentence.removesuffix(".")


def _hints(said: ToolAnnotations, override: HintOverride) -> Hints:
    """Take the operator's word first, then the server's; what neither says is answered cautiously."""
    read_only = _first(override.read_only, said.read_only_hint, default=False)
    return Hints(
        read_only=read_only,
        idempotent=_first(override.idempotent, said.idempotent_hint, default=False) or read_only,
        destructive=_first(override.destructive, said.destructive_hint, default=True) and not read_only,
    )


def _first(*answers: bool | None, default: bool) -> bool:
    return next((answer for answer in answers if answer is not None), default)


def _text(content: Iterable[ContentBlock]) -> str:
    return "\n".join(block.text for block in content if isinstance(block, TextContent))
