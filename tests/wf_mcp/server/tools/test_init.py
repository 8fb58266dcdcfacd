"""What the list of tools promises to hosts, and what it costs them."""

import json
import re
from typing import Any

import pytest

from wf_core.schemas import compile_schema
from wf_mcp.server.tool import WorkflowTool
from wf_mcp.server.tools import tools_of
from wf_mcp.server.toolsets import TOOLSETS, default_toolsets

TOOLS = tools_of(TOOLSETS)
every_tool = pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)


def listed(tool: WorkflowTool) -> dict[str, Any]:
    """Give a tool as tools/list names it."""
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": tool.parameters,
        "outputSchema": tool.output_schema,
        "annotations": tool.annotations.model_dump(by_alias=True, exclude_none=True) if tool.annotations else None,
        "_meta": tool.meta,
    }


def size(tools: list[WorkflowTool]) -> int:
    """Give the bytes of tools/list."""
    return len(json.dumps([listed(tool) for tool in tools], separators=(",", ":"), ensure_ascii=False).encode())


@every_tool
def test_names_are_taken_by_every_host(tool: WorkflowTool) -> None:
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", tool.name)


@every_tool
def test_a_tool_has_a_title_and_says_when_to_use_it_in_less_than_a_kilobyte(tool: WorkflowTool) -> None:
    assert tool.title
    assert "Use it" in tool.description
    assert len(tool.description.encode()) < 1024


@every_tool
def test_all_four_hints_are_given_and_do_not_contradict_each_other(tool: WorkflowTool) -> None:
    hints = listed(tool)["annotations"]

    assert set(hints) == {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
    assert not (hints["readOnlyHint"] and hints["destructiveHint"])


@every_tool
def test_both_schemas_are_plain_objects_and_unknown_arguments_are_closed_out(tool: WorkflowTool) -> None:
    """Unions at the root of an input schema are refused by some hosts."""
    assert tool.parameters["type"] == "object"
    assert tool.parameters["additionalProperties"] is False
    assert not {"anyOf", "oneOf", "allOf"} & set(tool.parameters)
    assert tool.output_schema is not None
    assert tool.output_schema["type"] == "object"


@every_tool
def test_the_defaults_that_are_published_are_of_the_published_type(tool: WorkflowTool) -> None:
    for schema in tool.parameters["properties"].values():
        judge = compile_schema(schema)
        assert "default" not in schema or judge is None or judge.accepts(schema["default"])


def test_hosts_are_told_which_tools_to_keep_at_hand_and_which_needs_a_person() -> None:
    meta = {tool.name: tool.meta for tool in TOOLS if tool.meta}

    assert meta == {
        "run_deployment": {"anthropic/alwaysLoad": True},
        "inspect_run": {"anthropic/alwaysLoad": True},
        "resume_run": {"anthropic/requiresUserInteraction": True},
    }


def test_a_toolset_has_tools_of_its_own() -> None:
    runs, authoring, sessions = ({tool.name for tool in tools_of([name])} for name in TOOLSETS)

    assert {"start_session", "resume_session", "run_isolated"} <= sessions
    assert {"run_deployment", "resume_run", "list_pending"} <= runs
    assert {"validate_workflow", "create_deployment", "list_capabilities"} <= authoring
    assert not runs & authoring
    assert not sessions & (runs | authoring)


def test_what_waits_can_be_answered_without_the_tools_of_sessions() -> None:
    assert "complete_call" in {tool.name for tool in tools_of(["runs"])}


def test_what_a_server_offers_by_default_costs_a_host_little() -> None:
    """At most 25 tools and 25 kB of tools/list by default; with agents there are the sessions' seven more."""
    default = tools_of(default_toolsets(agents=False))
    assert len(default) <= 25
    assert size(default) < 25_000
    assert len(TOOLS) == len(default) + 7
    assert size(TOOLS) < 34_000
