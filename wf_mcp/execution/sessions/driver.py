"""The sessions that this process advances.

A session belongs to the server, not to the request that started or resumed it: who asks may leave at any time. One
holder of its claim advances it; the claim is taken here, and given back when it rests.
"""

import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from weakref import WeakValueDictionary

import anyio
from anyio.abc import TaskGroup

from wf_artifacts.calls.models import Delivery
from wf_artifacts.errors import CallNotFound, SessionBusy, SessionExists, SessionNotFound
from wf_artifacts.sessions.rules import ENDED
from wf_core.calls.results import ToolResult
from wf_core.errors import WfError
from wf_core.ids import SessionId
from wf_core.ids import session_id as new_session_id
from wf_core.sessions import AgentSnapshot, Attachment, CallerPolicy, Parent
from wf_mcp.errors import first_error
from wf_mcp.execution.abandoned import is_of_store
from wf_mcp.execution.changes import Changes
from wf_mcp.execution.owned import ShuttingDown, owned
from wf_mcp.execution.sessions import mail
from wf_mcp.execution.sessions.advancing import TellParent, advance
from wf_mcp.execution.sessions.answers import deliver, delivery_of
from wf_mcp.execution.sessions.creating import store_new
from wf_mcp.execution.sessions.ending import end
from wf_mcp.execution.sessions.errors import CallAnswered, CallExpired, SessionAdvancingFailed, say_how_to_wait
from wf_mcp.execution.sessions.forking import store_fork
from wf_mcp.execution.sessions.going import Going
from wf_mcp.execution.sessions.held import HeldSession
from wf_mcp.execution.sessions.live import EndAsked, LiveSession, Poked, Wish
from wf_mcp.execution.sessions.loading import Sessions
from wf_mcp.execution.sessions.means import SessionMeans
from wf_mcp.execution.sessions.preparing import prepare
from wf_mcp.execution.sessions.views import SessionView, view
from wf_mcp.execution.sessions.waiting import SessionHandle, put_down, rested

logger = logging.getLogger(__name__)


class SessionDriver:
    """Starts, resumes and advances sessions in tasks of the application, and takes what the outside delivers."""

    def __init__(self, means: SessionMeans, tasks: TaskGroup) -> None:
        self.means = means
        self.going = Going(means, tasks, lambda session_id: self._serve(session_id, Wish("end")))
        """Which sessions go on by themselves."""
        self.tell_by_kind: dict[str, TellParent] = {"session": self._tell_session}
        """How the answer of a session is told to whoever called it, by what that is."""
        self.torn: set[SessionId] = set()
        """Sessions that this process let go because the store failed."""
        self._tasks = tasks
        self._sessions = Sessions(means)
        self._live: dict[SessionId, LiveSession] = {}
        self._turns: WeakValueDictionary[SessionId, anyio.Lock] = WeakValueDictionary()

    @property
    def changes(self) -> Changes:
        """Where to hear of each time a session is stored here."""
        return self.means.changes

    def handle(self, session_id: SessionId) -> SessionHandle:
        """Give what it takes to wait for a session."""
        return SessionHandle(session_id, self._live.get(session_id))

    def advances(self, session_id: SessionId) -> bool:
        """Tell whether this process advances a session right now."""
        return session_id in self._live

    def is_asked_for(self, session_id: str) -> bool:
        """Tell whether this process advances a session because somebody said so, not by itself."""
        live = self._live.get(SessionId(session_id))
        return live is not None and live.asked

    async def create(
        self,
        agent: AgentSnapshot,
        query: str | None,
        *,
        principal: str,
        attachments: Sequence[Attachment] = (),
        parent: Parent | None = None,
        callers: Sequence[CallerPolicy] = (),
        auto: bool = False,
        session_id: SessionId | None = None,
    ) -> SessionHandle:
        """Store a new session. Its model is not asked yet.

        A session that has `session_id` already is given as it is: whoever derives the id from its own may ask twice.
        `callers` are policies that hold beside the agent's own.

        Raises:
            InvalidPolicy, StoreFull, StoreUnavailable: no session was created.
        """
        named = session_id or new_session_id(self.means.clock.now(), self.means.random_bits())

        async def create() -> SessionHandle:
            try:
                held = await store_new(
                    self.means,
                    named,
                    agent,
                    query,
                    principal=principal,
                    attachments=attachments,
                    parent=parent,
                    callers=callers,
                    auto=auto,
                )
            except SessionExists:
                if session_id is None:
                    raise
                await self.means.sessions.load_record(named, principal=principal)
                return self.handle(named)
            await held.leave()
            self._sessions.remember(held)
            self.changes.tell(named)
            return self.handle(named)

        return await owned(self._tasks, create)

    async def fork(self, session_id: SessionId, *, principal: str | None = None) -> SessionHandle:
        """Copy a session as it was last stored; the copy is at rest.

        Raises:
            SessionNotFound, StateError, StoreFull, StoreUnavailable: there is no copy.
        """

        async def copy() -> SessionHandle:
            record, session = await self._sessions.read(session_id, principal=principal)
            return self.handle(await store_fork(self.means, record, session))

        return await owned(self._tasks, copy)

    async def step(
        self, session_id: SessionId, *, auto: bool | None = None, principal: str | None = None
    ) -> SessionHandle:
        """Ask the model once, or make the calls of a turn up to where it yields; what was delivered is taken first.

        `auto` says whether servers go on by themselves from now on.

        Raises:
            SessionNotFound, SessionBusy, SessionBlocked, StateError, StoreFull, StoreUnavailable: nothing was done.
        """
        asked = auto is not False  # to pause a session is to go on with nothing below it that is paused
        return await self._want(session_id, Wish("step", auto=auto, principal=principal, asked=asked, asks_again=True))

    async def resume(
        self,
        session_id: SessionId,
        *,
        prompt: str | None = None,
        attachments: Sequence[Attachment] = (),
        auto: bool | None = None,
        principal: str | None = None,
        asked: bool = True,
    ) -> SessionHandle:
        """Take what was delivered, and what the user says, and go on to the answer or to where it waits.

        What the user says is stored when this returns. `auto` says whether servers go on by themselves from now on.
        Of a session that this process advances already, the words are taken while its calls go on. `asked` is whether
        somebody wants that of this session, or it goes on by itself.

        Raises:
            SessionNotFound, SessionBusy, SessionBlocked, StateError, StoreFull, StoreUnavailable: nothing was done.
        """
        wish = Wish("end", prompt, tuple(attachments), auto, principal, asked=asked, asks_again=True)
        return await self._want(session_id, wish)

    async def run_isolated(self, session_id: SessionId, *, principal: str | None = None) -> SessionHandle:
        """Make the calls that are put off to isolation. The model is not asked.

        Raises:
            RunnerMissing: there are such calls, and nobody here to make them.
            SessionNotFound, SessionBusy, SessionBlocked, StateError, StoreFull, StoreUnavailable: nothing was done.
        """
        return await self._want(session_id, Wish("isolated", principal=principal))

    async def take_over(self, session_id: SessionId) -> SessionHandle:
        """Take over a session whose process is gone: go on with it if it says so, else put it to rest.

        Raises:
            SessionNotFound, SessionBusy, SessionBlocked, StateError, StoreFull, StoreUnavailable: nothing was done.
        """
        record = await self.means.sessions.load_record(session_id)
        return await self._want(session_id, Wish("end" if record.auto else "rest", asks_again=record.auto))

    async def end(self, session_id: SessionId, error: Mapping[str, str]) -> None:
        """End a session for good, whatever it is doing or waits for. One that has ended stays as it is.

        Calls in flight are told to stop. `error` says why: `code` and `message`.

        Raises:
            SessionNotFound, SessionBusy, StateError, StoreFull, StoreUnavailable: it is as it was last stored.
        """

        async def act() -> None:
            while True:
                async with self._turn(session_id):
                    live = self._live.get(session_id)
                    if live is None:
                        return await self._end_at_rest(session_id, error)
                live.post(EndAsked(error))
                await live.wait()
                if live.fault:
                    raise live.fault

        await owned(self._tasks, act)

    async def poke(self, session_id: SessionId) -> None:
        """Say that something was delivered to a session: who advances it here takes it at once, else it may go on."""
        live = self._live.get(session_id)
        if live is not None:
            live.post(Poked())
        else:
            self.going.go_on(session_id)

    async def deliver(
        self, token: str, delivery: Delivery, *, principal: str | None, by_model: bool = False
    ) -> SessionId:
        """Deliver to a call that waits, and give the id of its session. It is stored when this returns.

        Raises:
            CallNotFound: no such call waits, or it is somebody else's.
            CallAnswered: it has its answer; the first stays.
            CallExpired: its time has come.
            WrongAnswerKind: it waits for something else.
            InvalidResult: the result cannot be stored.
            PersonRequired: `by_model`, and only a person may say this.
        """
        session_id = await deliver(self.means, token, delivery, principal=principal, by_model=by_model)
        await self.poke(session_id)
        return session_id

    async def view(
        self, session_id: SessionId, *, principal: str | None = None, most: int | None = None
    ) -> SessionView:
        """Show a session: as it is where this process advances it, else as it was stored.

        `most` bounds how many of the calls that wait are shown.

        Raises:
            SessionNotFound, StateError, StoreUnavailable
        """
        live = self._live.get(session_id)
        if live is not None and principal in {None, live.held.record.principal}:
            return await view(self.means, live.held.record, live.held.session, most=most)
        record, session = await self._sessions.read(session_id, principal=principal)
        return await view(self.means, record, session, most=most)

    async def wait(self, handle: SessionHandle, *, seconds: float | None = None) -> None:
        """Wait until the session is put down, or with `seconds`: for so long at most until it rests.

        One that is about to go on does not rest, and one whose process is gone is taken over by a server. It goes on
        when the waiting is cancelled.

        Raises:
            WfError: advancing it ended, or it cannot be taken over; it stands as it was last stored.
        """
        if seconds is None:
            await put_down(self, handle)
            return
        with anyio.move_on_after(seconds):
            await rested(self, handle)
        if handle.live is not None and handle.live.fault is not None:
            raise handle.live.fault

    async def _want(self, session_id: SessionId, wish: Wish) -> SessionHandle:
        return await owned(self._tasks, partial(self._serve, session_id, wish))

    async def _serve(self, session_id: SessionId, wish: Wish) -> SessionHandle:
        while True:
            async with self._turn(session_id):
                live = self._live.get(session_id)
                if live is None:
                    return await self._serve_at_rest(session_id, wish)
            if wish.principal not in {None, live.held.record.principal}:
                raise SessionNotFound(session_id)
            if wish.goal == "rest":
                return SessionHandle(session_id, live)
            if wish.goal in {"step", "isolated"}:
                busy = SessionBusy(session_id)
                say_how_to_wait(busy)
                raise busy
            if live.goal == "end":
                live.asked = live.asked or wish.asked
                if not wish.says:
                    live.post(Poked())
                    return SessionHandle(session_id, live)
                if await live.say(wish.prompt or "", wish.attachments):
                    return SessionHandle(session_id, live)
                if live.fault:
                    raise live.fault
            await live.wait()

    async def _serve_at_rest(self, session_id: SessionId, wish: Wish) -> SessionHandle:
        held, anew = await self._sessions.hold(session_id, principal=wish.principal)
        if wish.goal == "end" and not (wish.asked or held.record.auto):
            wish = replace(wish, goal="rest", asks_again=False)  # it was paused meanwhile
        launched = False
        try:
            await prepare(held, wish, anew=anew)
            self._launch(held, wish)
            launched = True
        finally:
            if not launched:
                await held.leave()
        return self.handle(session_id)

    async def _end_at_rest(self, session_id: SessionId, error: Mapping[str, str]) -> None:
        held, _ = await self._sessions.hold(session_id)
        try:
            if held.record.status not in ENDED:
                await mail.take_over(held)
                await end(held, error)
        finally:
            await held.leave()

    def _turn(self, session_id: SessionId) -> anyio.Lock:
        """Let wishes for one session come one after another."""
        return self._turns.setdefault(session_id, anyio.Lock())

    def _launch(self, held: HeldSession, wish: Wish) -> None:
        live = LiveSession(held, wish.goal, asked=wish.asked, asks_again=wish.asks_again)
        self._live[live.session_id] = live
        self.going.waiting.pop(live.session_id, None)
        self._tasks.start_soon(self._drive, live)

    async def _drive(self, live: LiveSession) -> None:
        """Advance a session until it rests. Whatever happens, its claim is given back and its waiters are told."""
        try:
            await advance(self.means, live, self._tell, lambda: self._settle(live, None))
        except* WfError as group:
            await self._settle(live, first_error(group))
        except* Exception:
            logger.exception("Advancing the session %s failed", live.session_id)
            await self._settle(live, SessionAdvancingFailed(live.session_id))
        finally:
            await self._settle(live, ShuttingDown())

    async def _settle(self, live: LiveSession, fault: WfError | None) -> None:
        """Put down a session that is not advanced any more; the first word about why counts."""
        if self._live.get(live.session_id) is not live:
            return
        live.fault = fault
        if is_of_store(fault):
            self.torn.add(live.session_id)
        held = live.held
        if fault is None:
            self._sessions.remember(held)
        await held.leave()
        del self._live[live.session_id]
        if fault is None:
            self.going.rests(held.record, stepped=live.goal == "step")
            if not live.is_quiet:
                self.going.go_on(live.session_id)
        live.end()

    async def _tell(self, parent: Parent, result: ToolResult) -> None:
        tell = self.tell_by_kind.get(parent.kind)
        if tell is None:
            logger.warning("Nobody tells the %s %s of an answer", parent.kind, parent.id)
        else:
            await tell(parent, result)

    async def _tell_session(self, parent: Parent, result: ToolResult) -> None:
        delivery = delivery_of(result, channel="session", principal="", now=self.means.clock.now())
        with suppress(CallNotFound, CallAnswered, CallExpired):
            await self.deliver(parent.token, delivery, principal=None)
