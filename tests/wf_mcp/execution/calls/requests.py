"""Calls to be carried out in tests."""

from typing import Any

from wf_core.calls.policy import Disposition, PolicyContext, RunSync, ToolCall
from wf_mcp.execution.calls.protocol import CallRequest, Target


def request(
    name: str = "echo",
    disposition: Disposition | None = None,
    *,
    repeatable: bool = False,
    read_only: bool = False,
    **arguments: Any,
) -> CallRequest:
    """Ask for a call of the scripted source."""
    return CallRequest(
        owner_id="sess_1",
        call_id="t2.0",
        token="call_1",
        call=ToolCall(name, arguments, "", f"ops.{name}"),
        target=Target("ops", name, "digest", read_only=read_only, repeatable=repeatable),
        disposition=disposition or RunSync(),
        context=PolicyContext(session_id="sess_1", turn_id="t2"),
    )
