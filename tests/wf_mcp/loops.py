"""Plans whose items do different things at the same time."""

from typing import Any

from tests.wf_mcp.scripted import ask, node, plan


def ask_or(capability: str) -> dict[str, Any]:
    """Loop over `input.items` at once: an item that is `ask` asks, any other calls a capability."""
    which = {"op": "eq", "left": {"path": "context.item"}, "right": {"value": "ask"}}
    return plan(
        {
            "each": {"type": "foreach", "over": "input.items", "as": "item", "mode": "concurrent",
                     "routes": {"loop": "which", "done": "__end__"}},
            "which": {"type": "condition", "check": which, "routes": {"true": "ask", "false": "call"}},
            "ask": ask(),
            "call": node(capability),
        }
    )  # fmt: skip
