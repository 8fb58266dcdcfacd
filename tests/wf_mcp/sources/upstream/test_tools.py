"""Tools of an MCP server as capabilities, and their results as outputs."""

from typing import Any

import pytest
from mcp.types import CallToolResult, TextContent, Tool, ToolAnnotations

from wf_artifacts.sources.models import contract_digest
from wf_core.calls.contract import Hints
from wf_core.jsonvalue import JsonValue
from wf_mcp.config import HintOverride, Redactor
from wf_mcp.sources.errors import CallFailed
from wf_mcp.sources.protocol import CallResult
from wf_mcp.sources.upstream.tools import read_result, read_tools


def tool(name: str = "tool", **settings: Any) -> Tool:
    settings.setdefault("input_schema", {"type": "object"})
    return Tool(name=name, **settings)


def hints_of(annotations: ToolAnnotations | None, override: HintOverride | None = None) -> Hints:
    overrides = {} if override is None else {"tool": override}
    offered, _ = read_tools("up", [tool(annotations=annotations)], overrides, Redactor())
    return offered["tool"].contract.hints


def test_a_tool_is_a_capability_with_the_outcomes_ok_and_error(redactor: Redactor) -> None:
    listed = tool(title="Tool", description="Of sesame-street", output_schema={"type": "object", "title": "T"})
    offered, diagnostics = read_tools("up", [listed], {}, redactor)

    capability = offered["tool"]
    assert (capability.full_name, capability.title, capability.description) == ("up.tool", "Tool", "Of [redacted]")
    assert capability.contract.outcomes == ("ok", "error")
    assert capability.contract.output_schema == {"type": "object", "title": "T"}
    assert capability.digest == contract_digest(capability.contract)
    assert diagnostics == []


def test_a_tool_whose_name_holds_a_secret_is_not_offered(redactor: Redactor) -> None:
    offered, diagnostics = read_tools("up", [tool("of-sesame-street")], {}, redactor)

    assert offered == {}
    assert [told.message for told in diagnostics] == ["up.of-[redacted] is not offered: its name holds a secret."]


def test_a_tool_without_an_output_schema_may_answer_anything() -> None:
    offered, _ = read_tools("up", [tool()], {}, Redactor())
    assert offered["tool"].contract.output_schema == {}


def test_what_a_server_does_not_say_is_answered_cautiously() -> None:
    cautious = Hints(read_only=False, idempotent=False, destructive=True)
    assert hints_of(None) == cautious
    assert hints_of(ToolAnnotations()) == cautious
    assert hints_of(ToolAnnotations(read_only_hint=True)) == Hints(read_only=True, idempotent=True, destructive=False)
    assert hints_of(ToolAnnotations(idempotent_hint=True, destructive_hint=False)) == Hints(
        read_only=False, idempotent=True, destructive=False
    )


def test_the_operators_word_goes_before_the_servers() -> None:
    read_only = HintOverride(readOnly=True)
    assert hints_of(None, read_only).read_only
    assert hints_of(ToolAnnotations(read_only_hint=True), HintOverride(readOnly=False)) == Hints()
    assert hints_of(ToolAnnotations(idempotent_hint=True), HintOverride(destructive=False)).idempotent


def test_hints_for_a_tool_that_is_not_there_are_told() -> None:
    _, diagnostics = read_tools("up", [tool()], {"tol": HintOverride(readOnly=True)}, Redactor())

    assert [(diagnostic.severity, diagnostic.message) for diagnostic in diagnostics] == [
        ("warning", "wf.json has hints for up.tol, which the server does not offer.")
    ]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"x": {"$ref": "https://example.com/x"}}},
        {"type": "object", "properties": {"x": {"$ref": "file:///etc/passwd"}}},
        {"type": "object", "properties": {"x": {"type": "strange"}}},
        {"type": "object", "properties": {"x": {"pattern": "(?=a)b"}}},
        {"type": "object", "default": float("nan")},
    ],
)
def test_a_schema_that_cannot_be_used_costs_only_its_tool(schema: dict[str, Any], redactor: Redactor) -> None:
    listed = [tool("bad", input_schema=schema), tool("worse", output_schema=schema), tool("good")]
    offered, diagnostics = read_tools("up", listed, {}, redactor)

    assert list(offered) == ["good"]
    assert [diagnostic.message.split(" ")[0] for diagnostic in diagnostics] == ["up.bad", "up.worse"]


def test_of_two_tools_with_one_name_none_is_offered() -> None:
    """Which of them a call would reach is not known, and one may write what the other only reads."""
    reads = tool("twin", annotations=ToolAnnotations(read_only_hint=True))
    offered, diagnostics = read_tools("up", [reads, tool("other"), tool("twin")], {}, Redactor())

    assert list(offered) == ["other"]
    assert [(told.code, told.message) for told in diagnostics] == [
        ("invalid_capability", "up.twin is not offered: the server lists 2 different tools of this name.")
    ]


def test_a_tool_that_is_listed_twice_is_one_tool() -> None:
    """A listing by pages may repeat one while tools come and go."""
    offered, diagnostics = read_tools("up", [tool("twin"), tool("other"), tool("twin")], {}, Redactor())

    assert (list(offered), diagnostics) == (["twin", "other"], [])


def test_structured_content_is_the_output_whatever_it_is() -> None:
    values: list[JsonValue] = [{"a": 1}, [1], None, 0]
    for value in values:
        result = CallToolResult(content=[TextContent(type="text", text="x")], structured_content=value)
        assert read_result("up.tool", result, Redactor(), is_structured=False) == CallResult("ok", value)


def test_an_error_without_words_still_has_a_message() -> None:
    failed = read_result("up.tool", CallToolResult(content=[], is_error=True), Redactor(), is_structured=True)
    assert failed == CallResult("error", {"message": "up.tool failed and did not say why.", "content": []})


def test_what_is_no_json_is_refused_with_its_place(redactor: Redactor) -> None:
    result = CallToolResult(content=[], structured_content={"rows": [{"n": float("inf")}]})

    with pytest.raises(CallFailed, match=r"output\.rows\[0\]\.n") as failed:
        read_result("up.tool", result, redactor, is_structured=True)
    assert (failed.value.code, failed.value.executed) == ("output_invalid", True)
