"""What a user can ask for, one function each. Tools, the command line and the dashboard call these and nothing else.

`operations.runs` is loaded when it is first used: a server has answered its client before it needs the first of them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wf_mcp.operations import artifacts, calls, deployments, pending, runs, sessions, sources, traces

__all__ = ["artifacts", "calls", "deployments", "pending", "runs", "sessions", "sources", "traces"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")
