"""The names of the toolsets: what `--toolsets` can ask for. The tools themselves are made in `wf_mcp.server.tools`."""

from typing import Literal, get_args

Toolset = Literal["runs", "authoring", "sessions"]

TOOLSETS: tuple[Toolset, ...] = get_args(Toolset)


def default_toolsets(*, agents: bool) -> tuple[Toolset, ...]:
    """Give the sets that a server has unless it is told otherwise: sessions only where an agent is configured."""
    return TOOLSETS if agents else ("runs", "authoring")
