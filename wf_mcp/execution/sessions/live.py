"""A session while this process advances it: what happens to it, and who wants to hear of it.

Advancing it is `advancing`, whom it is advanced for is `driver`; here the advancing task, the calls in flight and the
waiters meet.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import anyio

from wf_core.errors import WfError
from wf_core.ids import SessionId
from wf_core.sessions import Attachment
from wf_mcp.execution.calls.protocol import CallComplete, CallYield
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


class UserSpoke:
    """The user says something, and waits to hear whether it was taken."""

    def __init__(self, query: str, attachments: Sequence[Attachment]) -> None:
        self.query = query
        self.attachments = tuple(attachments)
        self._taken = False
        self._settled = anyio.Event()

    def take(self) -> None:
        """Acknowledge it: it is stored."""
        self._taken = True
        self._settled.set()

    def pass_over(self) -> None:
        """Say that nobody advances the session here any more. What was said before stands."""
        self._settled.set()

    async def taken(self) -> bool:
        """Wait for the word, and give whether it was taken, or else passed over."""
        await self._settled.wait()
        return self._taken


Event = CallEnded | ModelSpoke | Poked | EndAsked | UserSpoke


class LiveSession:
    """One session that is being advanced."""

    def __init__(self, held: HeldSession, goal: Goal, *, asked: bool = False, asks_again: bool = False) -> None:
        self.held = held
        self.goal: Goal = goal
        self.asked = asked
        """Whether somebody wants it to be advanced; else it goes on by itself."""
        self.asks_again = asks_again
        """Whether callees that put their calls off are asked again."""
        self.fault: WfError | None = None
        """Why advancing ended although the session did not stop. It stands as it was last stored."""
        self._inbox: deque[Event] = deque()
        self._words: list[UserSpoke] = []
        """Those on which the word may be outstanding."""
        self._arrived = anyio.Event()
        self._ended = anyio.Event()

    @property
    def session_id(self) -> SessionId:
        return self.held.session_id

    def post(self, event: Event) -> None:
        """Let the advancing task know of `event`."""
        self._inbox.append(event)
        self._arrived.set()

    async def say(self, query: str, attachments: Sequence[Attachment]) -> bool:
        """Let the advancing task take what the user says, and give whether it did before it came to an end."""
        spoke = UserSpoke(query, attachments)
        if self._ended.is_set():
            return False
        self._words.append(spoke)
        self.post(spoke)
        try:
            return await spoke.taken()
        finally:
            self._words.remove(spoke)

    @property
    def is_quiet(self) -> bool:
        """Whether nothing was posted that has not been taken."""
        return not self._inbox

    async def receive(self, *, seconds: float | None) -> list[Event]:
        """Wait for at most `seconds` for what was posted, and take all of it, in the order in which it came."""
        if not self._inbox:
            with anyio.move_on_after(seconds):
                await self._arrived.wait()
        taken = list(self._inbox)
        self._inbox.clear()
        if taken:
            self._arrived = anyio.Event()
        return taken

    def end(self) -> None:
        """Let those go who wait; the session is stored and its claim is free."""
        self._ended.set()
        for spoke in self._words:
            spoke.pass_over()

    async def wait(self) -> None:
        """Wait until nobody advances the session here any more."""
        await self._ended.wait()
