"""Agent sessions: what a conversation is, and what happens next in it. It decides; acting is its driver's.

A session is updated in place. Each transition appends one event to `session.fresh_events`; a stored session is its
header and these events (`wf_core.codec.sessions`). A transition that raises has changed nothing.
"""

from wf_core.sessions.calling import begin, complete, defer, doubt, expire, release
from wf_core.sessions.context import context_of
from wf_core.sessions.deliveries import Approved, Delivered, Delivery, Retried, awaited, check_delivery
from wf_core.sessions.finding import find_call, open_calls
from wf_core.sessions.fork import fork
from wf_core.sessions.history import check_history
from wf_core.sessions.holding import hold
from wf_core.sessions.models import (
    AgentSnapshot,
    Attachment,
    CallerPolicy,
    LlmTurn,
    Notice,
    Parent,
    PartialUserTurn,
    PlacedResult,
    Session,
    SessionHeader,
    ToolDefinition,
    Turn,
    Usage,
    UserTurn,
    YieldStrategy,
)
from wf_core.sessions.planning import Action, AskModel, RunCalls, SessionError, Stop, Wait, next_action
from wf_core.sessions.recovery import Recovered, recover
from wf_core.sessions.tokens import token_of
from wf_core.sessions.turns import answer, say, start
from wf_core.sessions.wake import wake_session

__all__ = [
    "Action",
    "AgentSnapshot",
    "Approved",
    "AskModel",
    "Attachment",
    "CallerPolicy",
    "Delivered",
    "Delivery",
    "LlmTurn",
    "Notice",
    "Parent",
    "PartialUserTurn",
    "PlacedResult",
    "Recovered",
    "Retried",
    "RunCalls",
    "Session",
    "SessionError",
    "SessionHeader",
    "Stop",
    "ToolDefinition",
    "Turn",
    "Usage",
    "UserTurn",
    "Wait",
    "YieldStrategy",
    "answer",
    "awaited",
    "begin",
    "check_delivery",
    "check_history",
    "complete",
    "context_of",
    "defer",
    "doubt",
    "expire",
    "find_call",
    "fork",
    "hold",
    "next_action",
    "open_calls",
    "recover",
    "release",
    "say",
    "start",
    "token_of",
    "wake_session",
]
