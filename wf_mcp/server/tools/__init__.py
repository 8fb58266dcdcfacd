"""The tools, one file a noun. A toolset is what `--toolsets` can ask for."""

from collections.abc import Sequence

from wf_mcp.server.tool import WorkflowTool
from wf_mcp.server.tools import artifacts, capabilities, deployments, pending, runs, sessions
from wf_mcp.server.toolsets import TOOLSETS, Toolset


def tools_of(toolsets: Sequence[Toolset]) -> list[WorkflowTool]:
    """Make the tools of the named sets, in the order in which a client should read them."""
    rooms = {
        "runs": (runs, pending),
        "authoring": (capabilities, artifacts, deployments),
        "sessions": (sessions,),
    }
    return [tool for name in TOOLSETS if name in toolsets for room in rooms[name] for tool in room.tools()]
