"""The names of the toolsets."""

from wf_mcp.server.toolsets import TOOLSETS, default_toolsets


def test_sessions_are_a_default_only_where_there_is_an_agent() -> None:
    assert default_toolsets(agents=True) == TOOLSETS
    assert default_toolsets(agents=False) == ("runs", "authoring")
