"""One call of a tool, as the tool's function sees it: the application, who asks, and how to tell about progress."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wf_mcp.operations.caller import LOCAL_MODEL, Caller

if TYPE_CHECKING:
    from wf_mcp.app import App
    from wf_mcp.server.progress import Progress


@dataclass(frozen=True, slots=True)
class ToolCall:
    """What a tool's function gets beside its arguments."""

    app: App
    progress: Progress
    caller: Caller = LOCAL_MODEL
