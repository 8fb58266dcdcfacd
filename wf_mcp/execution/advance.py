"""Advance one run until it stops: ask the kernel what is next, act, tell it what happened.

What of that is stored, and when, is `journal`. Which runs are advanced, and who may ask for it, is `runs`.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from time import monotonic

import anyio
import anyio.lowlevel
from anyio.abc import TaskGroup

from wf_core.errors import RunRefused
from wf_core.runtime import CallFailure, Invocation, Ready, Stopped, Waiting
from wf_core.runtime.inputs import Cancel, Complete, Fail, NextWork, PutOff
from wf_mcp.execution.calls.isolated import NO_RUNNER
from wf_mcp.execution.carrying import cannot_carry_out, carry_out
from wf_mcp.execution.invoke import Deferred, invoke
from wf_mcp.execution.journal import BUFFERED_SECONDS
from wf_mcp.execution.live import AnswerGiven, CallEnded, CancelAsked, Event, LiveRun
from wf_mcp.execution.means import Means
from wf_mcp.sources.protocol import CallResult

SECONDS_WITHOUT_PAUSE = 0.01
"""How long one task makes calls itself, each of which may end at once, before it lets others have their turn."""

Work = Ready | Waiting | Stopped | None

_UNTIL_SOMETHING_HAPPENS = Waiting(None)


async def advance(means: Means, live: LiveRun, settle: Callable[[], Awaitable[None]]) -> None:
    """Advance a run until it stops or is cancelled, and store that.

    `settle` is called once that is stored; calls that do not heed being told to stop may still be under way then. What
    is raised leaves the run as it was last written.
    """
    async with anyio.create_task_group() as tasks:
        await _Advancing(means, live, settle, tasks).drive(None)


@dataclass(slots=True)
class _OwnCall:
    """A call that the driving task makes itself, and whether another task drives meanwhile."""

    call_id: str
    handed_over: bool = False


class _Advancing:
    """One stretch of a run, from here to its next stop.

    One task drives. A call that is alone it makes itself, for a task costs more than most steps; should the call take
    long, or something else happen, another task takes the driving over and this one is left to the call.
    """

    def __init__(self, means: Means, live: LiveRun, settle: Callable[[], Awaitable[None]], tasks: TaskGroup) -> None:
        self._means = means
        self._live = live
        self._journal = live.journal
        self._settle = settle
        self._tasks = tasks
        self._has_policy = live.journal.environment.deployment.call_policy is not None
        self._scopes: dict[str, anyio.CancelScope] = {}
        """Of the calls in flight, by call id."""
        self._own: _OwnCall | None = None
        self._paused_at = monotonic()
        self._relief: anyio.CancelScope | None = None
        """Of the task that would take the driving over."""

    async def drive(self, waiting: Waiting | None) -> None:
        """Advance the run until it stops, or until another task drives; `waiting` is for what, to begin with."""
        try:
            # Of the call that this task makes itself: it is told to stop only once another task drives.
            with anyio.CancelScope() as own:
                if not await self._drive(waiting, own):
                    return
            if own.cancelled_caught:
                return
            await self._journal.commit(self._journal.run.status)
            await self._settle()
        except BaseException:
            self._stop_all()
            raise
        self._stop_all()

    async def _drive(self, waiting: Waiting | None, own: anyio.CancelScope) -> bool:
        """Advance the run, and give whether it has stopped: otherwise another task drives."""
        while True:
            if waiting is not None:
                await self._take(await self._events(waiting))
            work = self._next(NextWork(self._means.clock.now()))
            while (call := self._alone(work)) is not None:
                await self._store_beginning(call)
                ended = await self._make_own(call, own)
                if ended is None:
                    return False
                work = await self._after_own(ended)
            match work:
                case Ready(calls, waiting):
                    await self._store_beginning(*calls)
                    await self._journal.synced()
                    self._begin(calls)
                    if waiting is None:
                        await anyio.lowlevel.checkpoint()  # a long chain of steps lets others have their turn
                case Waiting() as waiting:
                    pass
                case _:
                    return True

    def _next(self, given: NextWork | Complete) -> Work:
        """Give the run an input that asks what is next."""
        work = self._journal.apply(given)
        self._stop_unwanted()
        if self._has_policy and isinstance(work, Ready):
            return self._put_off(work)
        return work

    def _alone(self, work: Work) -> Invocation | None:
        """Give the call to make if it is the only thing to do."""
        match work:
            case Ready((call,), Waiting(None)) if not self._scopes and self._live.is_quiet:
                return call
            case _:
                return None

    def _put_off(self, work: Ready) -> Ready:
        """Let those calls wait that nobody here can carry out, before it is stored that they begin."""
        environment = self._journal.environment
        left = [call for call in work.calls if cannot_carry_out(self._means, environment, call)]
        if not left:
            return work
        for call in left:
            now = self._means.clock.now()
            self._journal.apply(PutOff(now, call.call_id, "isolated", NO_RUNNER))
        others = tuple(call for call in work.calls if call not in left)
        # Nothing may be left to wait for: ask again.
        return Ready(others, work.then if others or self._scopes else None)

    async def _store_beginning(self, *calls: Invocation) -> None:
        """Store that calls begin: before they do where one may not be repeated, else when it suits.

        What is stored is on disk once `Journal.synced` was awaited.
        """
        if all([call.repeatable for call in calls]):  # noqa: C419  # a generator costs more than a list of one
            await self._journal.write_if_due()
        else:
            await self._journal.write(sync=True)

    def _begin(self, calls: tuple[Invocation, ...]) -> None:
        for call in calls:
            self._scopes[call.call_id] = anyio.CancelScope()
            self._tasks.start_soon(self._make, call)
            self._live.report(call.step_id, call.capability)

    async def _make(self, call: Invocation) -> None:
        with self._scopes[call.call_id]:
            self._live.post(CallEnded(call.call_id, await self._invoke(call)))

    async def _make_own(self, call: Invocation, scope: anyio.CancelScope) -> CallEnded | None:
        """Make a call here, and give how it ended if this task still drives."""
        own = self._own = _OwnCall(call.call_id)
        self._scopes[call.call_id] = scope
        self._live.report(call.step_id, call.capability)
        if self._relief is None:
            self._relief = anyio.CancelScope()
            self._tasks.start_soon(self._relieve, self._relief)
        ended = CallEnded(call.call_id, await self._invoke(call))
        if own.handed_over:
            self._live.post(ended)
            return None
        self._own = None
        return ended

    async def _after_own(self, ended: CallEnded) -> Work:
        """Tell the kernel how a call of this task ended, and give what is next."""
        goes_on = monotonic() < self._paused_at + SECONDS_WITHOUT_PAUSE
        match ended:
            case CallEnded(call_id, CallResult(outcome, output)) if goes_on:
                del self._scopes[call_id]
                return self._next(Complete(self._means.clock.now(), call_id, outcome, output, goes_on=True))
            case _:
                self._end_call(ended)
                # Before a call begins, for whoever stops this task would leave that one in doubt.
                await anyio.lowlevel.checkpoint()
                self._paused_at = monotonic()
                return self._next(NextWork(self._means.clock.now()))

    async def _relieve(self, scope: anyio.CancelScope) -> None:
        """Take the driving over from a task that is held up by its own call while there is something else to do."""
        with scope:
            await self._live.wait_for_news(seconds=BUFFERED_SECONDS)
        if scope.cancelled_caught:
            return
        self._relief = None
        if self._own is not None:
            self._own.handed_over, self._own = True, None
            await self.drive(_UNTIL_SOMETHING_HAPPENS)

    async def _invoke(self, call: Invocation) -> CallResult | CallFailure | Deferred:
        pinned = self._journal.environment.capabilities[call.capability]
        if call.policy is not None:
            await self._journal.synced()
            return await carry_out(self._means, self._journal.record, pinned, call, call.policy.disposition)
        return await invoke(
            self._means.registry.sources(),
            pinned,
            call,
            run_id=self._live.run_id,
            max_bytes=self._means.max_bytes,
            ready=self._journal.synced,
        )

    def _stop_unwanted(self) -> None:
        """Tell those calls to stop whose step has ended without them."""
        wanted = self._journal.run.calls
        if len(self._scopes) > len(wanted):
            for call_id in self._scopes.keys() - wanted.keys():
                self._scopes.pop(call_id).cancel()

    def _stop_all(self) -> None:
        """Tell every call in flight to stop: nobody drives any more."""
        if self._relief is not None:
            self._relief.cancel()
        for scope in self._scopes.values():
            scope.cancel()

    async def _events(self, waiting: Waiting) -> list[Event]:
        """Wait until something happens, or is due. What waits to be written is written meanwhile."""
        due = None
        if waiting.until is not None:
            due = monotonic() + (waiting.until - self._means.clock.now()).total_seconds()
        while True:
            moments = [moment for moment in (due, self._journal.due_at) if moment is not None]
            seconds = max(0.0, min(moments) - monotonic()) if moments else None
            events = await self._live.receive(seconds=seconds)
            await self._journal.write_if_due()
            if events or (due is not None and monotonic() >= due):
                return events

    async def _take(self, events: list[Event]) -> None:
        """Tell the kernel what happened. Answers are stored before anything is done about them, then acknowledged."""
        answered: list[AnswerGiven] = []
        for event in events:
            if self._journal.run.status != "running":
                break  # an event before this one ended the run
            match event:
                case CancelAsked(reason):
                    self._journal.apply(Cancel(self._means.clock.now(), reason))
                case CallEnded():
                    self._end_call(event)
                case AnswerGiven(given=given):
                    try:
                        self._journal.apply(given)
                    except RunRefused as refusal:
                        event.refuse(refusal)
                    else:
                        answered.append(event)
        if answered:
            await self._journal.commit("answered")
            for given in answered:
                given.take()

    def _end_call(self, ended: CallEnded) -> None:
        if self._scopes.pop(ended.call_id, None) is None:
            return  # it was told to stop
        now = self._means.clock.now()
        match ended.result:
            case CallFailure() as failure:
                self._journal.apply(Fail(now, ended.call_id, failure, self._means.chance()))
            case CallResult(outcome, output):
                self._journal.apply(Complete(now, ended.call_id, outcome, output))
            case Deferred(awaits, reason):
                self._journal.apply(PutOff(now, ended.call_id, awaits, reason))
