"""A session while this process advances it: what happens to it, and who wants to hear of it.

Advancing it is `advancing`, whom it is advanced for is `driver`; here the advancing task, the calls in flight and the
waiters meet.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from wf_core.errors import WfError
from wf_core.ids import SessionId
from wf_core.sessions import Attachment
from wf_mcp.execution.calls.protocol import CallComplete, CallYield
from wf_mcp.execution.listening import Listening, Offer
from wf_mcp.execution.sessions.held import HeldSession
from wf_mcp.llm.protocol import ModelAnswer, ModelFailed

Goal = Literal["end", "step", "isolated", "rest"]
"""How far a session is advanced: to its next stop, by one step, by its isolated calls, or not at all."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What is wanted of a session."""

    goal: Goal
    prompt: str | None = None
    attachments: Sequence[Attachment] = ()
    auto: bool | None = None
    principal: str | None = None
    asked: bool = False
    """Whether somebody wants it; else the session goes on by itself."""
    asks_again: bool = False
    """Whether callees that put their calls off are asked again."""

    @property
    def says(self) -> bool:
        return self.prompt is not None or bool(self.attachments)


@dataclass(frozen=True, slots=True)
class CallEnded:
    """A call in flight gave its result, or goes on elsewhere; or what it came to cannot be told, and the error why."""

    call_id: str
    ended: CallComplete | CallYield | WfError


@dataclass(frozen=True, slots=True)
class ModelSpoke:
    """The model answered, or did not."""

    said: ModelAnswer | ModelFailed


@dataclass(frozen=True, slots=True)
class Poked:
    """Something was delivered to one of the session's calls."""


@dataclass(frozen=True, slots=True)
class EndAsked:
    """Nobody wants the session's answer any more."""

    error: Mapping[str, str]
    """Why: `code` and `message`."""


class UserSpoke(Offer):
    """The user says something, and waits to hear whether it was taken."""

    def __init__(self, query: str, attachments: Sequence[Attachment]) -> None:
        super().__init__()
        self.query = query
        self.attachments = tuple(attachments)


Event = CallEnded | ModelSpoke | Poked | EndAsked | UserSpoke


class LiveSession(Listening[Event]):
    """One session that is being advanced."""

    def __init__(self, held: HeldSession, goal: Goal, *, asked: bool = False, asks_again: bool = False) -> None:
        super().__init__()
        self.held = held
        self.goal: Goal = goal
        self.asked = asked
        """Whether somebody wants it to be advanced; else it goes on by itself."""
        self.asks_again = asks_again
        """Whether callees that put their calls off are asked again."""

    @property
    def session_id(self) -> SessionId:
        return self.held.session_id

    async def say(self, query: str, attachments: Sequence[Attachment]) -> bool:
        """Let the advancing task take what the user says, and give whether it did before it came to an end."""
        spoke = UserSpoke(query, attachments)
        self.post(spoke)
        return await self._heard(spoke)
