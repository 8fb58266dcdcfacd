"""Advance one session until it rests: ask the kernel what is next, act, tell it what happened.

One task drives. The model is asked and calls are made in tasks beside it, so whatever happens meanwhile is taken. What
was done is stored before the next thing is begun that may not be done twice, and before anybody is waited for. Which
calls are begun when is `scheduling`; which sessions are advanced, and who may ask for it, is `driver`.
"""

import logging
import math
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio
from anyio.abc import TaskGroup

from wf_core.calls.results import ToolResult, json_result, text_result
from wf_core.errors import WfError
from wf_core.sessions import Action, AskModel, Parent, RunCalls, Stop, Wait, answer, hold, next_action, say
from wf_mcp.errors import describe as describe_error
from wf_mcp.execution.sessions import mail
from wf_mcp.execution.sessions.ending import end
from wf_mcp.execution.sessions.live import CallEnded, EndAsked, Event, LiveSession, ModelSpoke, Poked, UserSpoke
from wf_mcp.execution.sessions.means import SessionMeans
from wf_mcp.execution.sessions.scheduling import Scheduler
from wf_mcp.llm.protocol import ModelAnswer, ModelFailed, ModelProvider, ModelRequest

logger = logging.getLogger(__name__)

LOOK_SECONDS = 1.0
"""How often it is looked for what other processes delivered, while calls are in flight or the model is asked."""

JUST_LOOKED_SECONDS = 0.1
"""How long it is as good as now that it was looked. What comes meanwhile is taken when the session goes on."""

TellParent = Callable[[Parent, ToolResult], Awaitable[None]]


async def advance(
    means: SessionMeans, live: LiveSession, tell_parent: TellParent, settle: Callable[[], Awaitable[None]]
) -> None:
    """Advance a session as far as its goal says, and store that.

    `settle` is called once that is stored. What is raised leaves the session as it was last stored.
    """
    async with anyio.create_task_group() as tasks:
        advancing = _Advancing(means, live, tell_parent, tasks)
        await advancing.drive()
        await settle()
        tasks.cancel_scope.cancel()


class _Advancing:
    """One stretch of a session, from here to where it rests."""

    def __init__(self, means: SessionMeans, live: LiveSession, tell_parent: TellParent, tasks: TaskGroup) -> None:
        self._means = means
        self._live = live
        self._held = live.held
        self._session = live.held.session
        self._tell_parent = tell_parent
        self._tasks = tasks
        self._calls = Scheduler(live, tasks)
        self._asking = False
        self._asked = False
        self._model: ModelProvider | None = None
        self._error: dict[str, Any] | None = None
        """Why the model did not answer."""
        self._unwanted: Mapping[str, str] | None = None
        """Why nobody wants the session's answer any more."""
        self._words: list[UserSpoke] = []
        """Taken, and to be acknowledged once they are stored."""
        self._looked_at = -math.inf
        """When it was looked for deliveries last."""

    async def drive(self) -> None:
        """Advance the session until there is nothing more to do, and store that it rests.

        One that nobody wants any more is ended where it stands; its calls in flight are told to stop after that.
        """
        await self._begin()
        while True:
            action = next_action(self._session)
            if await self._act(action):
                continue
            if not self._asking and not self._calls.in_flight and self._live.is_quiet:
                if isinstance(action, Wait | Stop) and not self._has_just_looked() and await self._look():
                    continue
                if not self._live.is_quiet:
                    continue
                break
            await self._flush()
            await self._take_all(await self._events(action))
            if self._unwanted is not None:
                await end(self._held, self._unwanted)
                self._acknowledge()
                return
        await self._rest(action)

    async def _begin(self) -> None:
        await mail.find_cached(self._held)
        await self._look()
        if self._live.goal == "isolated":
            self._calls.release_isolated()
        if self._live.asks_again:
            self._calls.ask_again()

    async def _act(self, action: Action) -> bool:
        """Do what is to be done now, and tell whether that changed the session."""
        goal = self._live.goal
        if goal == "rest":
            return False
        match action:
            case RunCalls(calls):
                return not (goal == "step" and self._asked) and await self._calls.schedule(calls)
            case Wait() as wait if goal != "isolated" and self._calls.yields(wait):
                self._calls.began = True
                hold(self._session)
                return True
            case AskModel() if not self._asking and self._may_ask():
                await self._ask()
                return False
            case _:
                return False

    def _may_ask(self) -> bool:
        if self._error is not None or self._live.goal == "isolated":
            return False
        return self._live.goal == "end" or not (self._asked or self._calls.began)

    async def _ask(self) -> None:
        self._asking = self._asked = True
        try:
            self._model = self._model or self._means.open_model(self._session.agent)
        except ModelFailed as failed:
            self._live.post(ModelSpoke(failed))
            return
        # Asking changes nothing outside, and what it is asked with can be had again: it need not wait for the store.
        self._tasks.start_soon(self._listen, self._model)
        await self._flush(sync=False)

    async def _listen(self, model: ModelProvider) -> None:
        try:
            self._live.post(ModelSpoke(await model.ask(ModelRequest.of(self._session))))
        except ModelFailed as failed:
            self._live.post(ModelSpoke(failed))

    async def _events(self, action: Action) -> list[Event]:
        """Wait until something happens, or is due."""
        now = anyio.current_time()
        moments = [self._calls.yields_at] if isinstance(action, Wait) and self._calls.yields_at is not None else []
        if mail.open_to_outside(self._session):
            moments.append(max(self._looked_at + LOOK_SECONDS, now))
        seconds = max(0.0, min(moments) - now) if moments else None
        events = await self._live.receive(seconds=seconds)
        if not events and anyio.current_time() >= self._looked_at + LOOK_SECONDS:
            await self._look()
        return events

    async def _take_all(self, events: list[Event]) -> None:
        """Tell the kernel what happened, in order. A fault in one ends this, but the ends of other calls are stored."""
        waiting = deque(events)
        try:
            while waiting:
                await self._take(waiting.popleft())
        except Exception:
            with anyio.CancelScope(shield=True):
                await self._save_ends([*waiting, *await self._live.receive(seconds=0)])
            raise

    async def _save_ends(self, events: list[Event]) -> None:
        """Store what calls have come to before the session is let go. What cannot be taken either is logged."""
        for event in events:
            if isinstance(event, CallEnded):
                try:
                    await self._take(event)
                except Exception:
                    logger.exception("The end of the call %s cannot be taken", event.call_id)
        try:
            if not self._held.broken:
                await self._flush()
        except WfError as error:
            logger.warning("The session %s is left as it was last stored: %s", self._session.id, error)

    async def _take(self, event: Event) -> None:
        """Tell the kernel what happened."""
        match event:
            case CallEnded(call_id, ended):
                await self._calls.take(call_id, ended)
            case ModelSpoke(said):
                self._asking = False
                self._take_answer(said)
            case UserSpoke():
                say(self._session, event.query, event.attachments, joins=not self._asking)
                self._words.append(event)
                self._error = None
            case Poked():
                await self._look()
            case EndAsked(error):
                self._unwanted = error

    def _take_answer(self, said: ModelAnswer | ModelFailed) -> None:
        if isinstance(said, ModelFailed):
            logger.warning("The model of the session %s did not answer: %s", self._session.id, said)
            self._error = describe_error(said)
        else:
            answer(self._session, said.text, said.tool_calls, said.usage, policy=self._means.policy)

    async def _look(self) -> bool:
        """Take what was delivered, and tell whether there was anything."""
        self._looked_at = anyio.current_time()
        return await mail.collect(self._held)

    def _has_just_looked(self) -> bool:
        return anyio.current_time() < self._looked_at + JUST_LOOKED_SECONDS

    async def _flush(self, *, sync: bool = True) -> None:
        """Store what was done; then acknowledge what the user said."""
        if self._words or not self._held.is_stored or self._held.record.status != "running":
            await self._held.store("running", sync=sync or bool(self._words))
        self._acknowledge()

    def _acknowledge(self) -> None:
        for spoke in self._words:
            spoke.take()
        self._words = []

    async def _rest(self, action: Action) -> None:
        if isinstance(action, Stop) and self._session.parent is not None:
            # Before the session is stored as ended, so that a crash tells it again rather than never.
            await self._flush()
            await self._tell_parent(self._session.parent, _told(action, self._session.id))
        await self._held.rest(error=self._error)
        self._acknowledge()


def _told(stop: Stop, session_id: str) -> ToolResult:
    """Give what the caller of an agent gets: the same as it does where the agent answers at once."""
    if stop.error is not None:
        return text_result(f"{stop.error.code}: {stop.error.message}", error=True)
    return json_result({"answer": stop.answer or "", "session_id": session_id})
