"""What the records of a session say of themselves."""

from tests.wf_core.conversations import TOOLS, agent, start, tool


def test_a_tool_is_found_by_its_name_or_its_capability() -> None:
    helper = agent()
    assert helper.tool("count") is helper.tool("ops.count") is TOOLS[0]
    assert helper.tool("Count") is None
    assert helper.tool("") is None


def test_a_call_may_be_repeated_where_its_tool_says_so() -> None:
    assert tool("a", read_only=True).repeatable
    assert not tool("a").repeatable


def test_events_are_drained_once() -> None:
    session = start()
    assert len(session.take_events()) == 1
    assert session.take_events() == []
