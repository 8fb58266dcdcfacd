"""What it takes to carry out a call."""

from tests.wf_mcp.execution.calls.requests import request
from tests.wf_mcp.execution.sessions.workplace import READING, tool
from wf_mcp.execution.calls.protocol import Target


def test_a_tool_stands_for_the_capability_that_it_is_pinned_to() -> None:
    pinned = tool("word.count", source="my.ops", hints=READING)
    target = Target.of(pinned)
    assert (target.source, target.name, target.capability) == ("my.ops", "word.count", "my.ops.word.count")
    assert (target.read_only, target.repeatable, target.digest) == (True, True, pinned.digest)


def test_a_call_has_one_name_for_outside_systems_whatever_the_attempt() -> None:
    assert request().idempotency_key == "sess_1:t2.0"
