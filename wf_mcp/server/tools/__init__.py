"""The tools, one file a noun. A toolset is what `--toolsets` can ask for."""

from collections.abc import Sequence
from typing import Literal, get_args

from wf_mcp.server.tool import WorkflowTool
from wf_mcp.server.tools import artifacts, capabilities, deployments, pending, runs, sessions

Toolset = Literal["runs", "authoring", "sessions"]

TOOLSETS: tuple[Toolset, ...] = get_args(Toolset)


def default_toolsets(*, agents: bool) -> tuple[Toolset, ...]:
    """Give the sets that a server has unless it is told otherwise: sessions only where an agent is configured."""
    return TOOLSETS if agents else ("runs", "authoring")


def tools_of(toolsets: Sequence[Toolset]) -> list[WorkflowTool]:
    """Make the tools of the named sets, in the order in which a client should read them."""
    rooms = {
        "runs": (runs, pending),
        "authoring": (capabilities, artifacts, deployments),
        "sessions": (sessions,),
    }
    return [tool for name in TOOLSETS if name in toolsets for room in rooms[name] for tool in room.tools()]
