"""Who asks, and through which door."""

from dataclasses import dataclass
from typing import Literal

Channel = Literal["mcp", "cli", "dashboard", "elicitation"]


@dataclass(frozen=True, slots=True)
class Caller:
    """The principal whose runs are seen, and what is known of who is at the other end."""

    principal: str = "local"
    channel: Channel = "mcp"
    person: bool = False
    """Whether a model cannot use this channel: then it may answer what only a person may answer."""


LOCAL_MODEL = Caller()
"""A model that speaks MCP to a server of one user."""

LOCAL_PERSON = Caller(channel="cli", person=True)
"""The operator at the command line."""
