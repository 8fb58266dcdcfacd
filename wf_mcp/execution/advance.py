"""Advance one run until it stops: ask the kernel what is next, act, tell it what happened, store where that led.

Owns when a run is stored. Which runs are advanced, and who may ask for it, is `runs`.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import anyio
import anyio.lowlevel
from anyio.abc import TaskGroup

from wf_artifacts.clock import Clock
from wf_artifacts.runs.models import Checkpoint
from wf_artifacts.runs.store import RunStore
from wf_core.codec import dump_run
from wf_core.errors import RunRefused
from wf_core.ids import RunId
from wf_core.runtime import CallFailure, Invocation, Ready, Stopped, Waiting, cancel, complete, fail, next_work, resume
from wf_mcp.execution.changes import Changes
from wf_mcp.execution.invoke import invoke
from wf_mcp.execution.live import AnswerGiven, CallEnded, CancelAsked, Event, LiveRun
from wf_mcp.execution.records import describe
from wf_mcp.sources.protocol import CallResult
from wf_mcp.sources.registry import SourceRegistry

FIRST_STORED_AFTER_SECONDS = 1.0
MOST_SECONDS_UNSTORED = 60.0
"""A run that does not stop is stored after a second, then ever more rarely, at least so often."""

QUESTION_STORED_AFTER_SECONDS = 0.5
"""A question that opens while other steps go on is shown to the outside at least so soon, together with others."""


@dataclass(frozen=True, slots=True)
class Means:
    """What it takes to advance runs."""

    store: RunStore
    registry: SourceRegistry
    clock: Clock
    chance: Callable[[], float]
    """Gives a number from 0 to 1: jitter for the delays between attempts."""
    max_bytes: int
    changes: Changes = field(default_factory=Changes)
    """Told of each time a run is stored."""


async def advance(means: Means, live: LiveRun, settle: Callable[[], Awaitable[None]]) -> None:
    """Advance a run until it stops or is cancelled, and store that.

    `settle` is called once that is stored; calls that do not heed being told to stop may still be under way then. What
    is raised leaves the run as it was last stored.
    """
    async with anyio.create_task_group() as calls:
        advancing = _Advancing(means, live, calls)
        try:
            await advancing.until_stopped()
            await store(means, live, live.run.status)
            await settle()
        finally:
            advancing.stop_calls()


async def store(means: Means, live: LiveRun, reason: str) -> None:
    """Store where the run stands in one step: its state, its record, and the trace entries made since the last time."""
    now = means.clock.now()
    sequence = live.record.checkpoint + 1
    record = describe(live.run, live.record, checkpoint=sequence, now=now)
    checkpoint = Checkpoint(RunId(live.run.run_id), sequence, reason, dump_run(live.run), now)
    await means.store.commit(live.claim, record, checkpoint=checkpoint, trace=live.run.take_trace())
    live.record = record
    means.changes.tell(record.run_id)


class _Advancing:
    """One stretch of a run, from here to its next stop."""

    def __init__(self, means: Means, live: LiveRun, calls: TaskGroup) -> None:
        self._means = means
        self._live = live
        self._calls = calls
        self._scopes: dict[str, anyio.CancelScope] = {}
        """Of the calls in flight, by call id."""
        self._unstored_seconds = FIRST_STORED_AFTER_SECONDS
        self._stored_at = anyio.current_time()
        self._told = live.run.counters.interrupt
        """The number of the first question that was not open yet when the run was last stored."""

    async def until_stopped(self) -> None:
        run, program = self._live.run, self._live.program
        while True:
            work = next_work(program, run, now=self._means.clock.now())
            match work:
                case Stopped():
                    return
                case Ready(calls):
                    for invocation in calls:
                        self._scopes[invocation.call_id] = anyio.CancelScope()
                        self._calls.start_soon(self._call, invocation)
                        self._live.report(f"{invocation.step_id}: {invocation.capability}")
                    await anyio.lowlevel.checkpoint()  # others get their turn, however long the chain of steps
                case Waiting():
                    await self._take(await self._events(work))

    def stop_calls(self) -> None:
        """Tell every call in flight to stop."""
        for scope in self._scopes.values():
            scope.cancel()

    async def _events(self, waiting: Waiting) -> list[Event]:
        """Wait until something happens, or is due. Until then, store now and then how far the run is."""
        due = None
        if waiting.until is not None:
            due = anyio.current_time() + (waiting.until - self._means.clock.now()).total_seconds()
        while True:
            store_at = self._store_at
            moments = [moment for moment in (due, store_at) if moment is not None]
            seconds = max(0.0, min(moments) - anyio.current_time()) if moments else None
            events = await self._live.receive(seconds=seconds)
            if store_at is not None and anyio.current_time() >= store_at:
                await self._store("running")
                self._unstored_seconds = min(2 * self._unstored_seconds, MOST_SECONDS_UNSTORED)
            if events or (due is not None and anyio.current_time() >= due):
                return events

    @property
    def _store_at(self) -> float | None:
        """When the run has to be stored although it has not stopped; None where nothing of it is new."""
        run = self._live.run
        if run.steps_executed == self._live.record.steps_executed:
            return None
        asks = run.counters.interrupt > self._told
        return self._stored_at + (QUESTION_STORED_AFTER_SECONDS if asks else self._unstored_seconds)

    async def _call(self, invocation: Invocation) -> None:
        with self._scopes[invocation.call_id]:
            result = await invoke(
                self._means.registry.sources(),
                self._live.environment.capabilities[invocation.capability],
                invocation,
                run_id=self._live.run.run_id,
                max_bytes=self._means.max_bytes,
            )
            self._live.post(CallEnded(invocation.call_id, result))

    async def _take(self, events: list[Event]) -> None:
        """Tell the kernel what happened. Answers are stored before anything is done about them, then acknowledged."""
        run, program, now = self._live.run, self._live.program, self._means.clock.now()
        answered: list[AnswerGiven] = []
        for event in events:
            if run.status != "running":
                break  # an event before this one ended the run
            match event:
                case CancelAsked(reason):
                    cancel(program, run, reason=reason, now=now)
                case CallEnded():
                    self._end_call(event)
                case AnswerGiven(answer=answer):
                    try:
                        resume(program, run, answer, now=now)
                    except RunRefused as refusal:
                        event.refuse(refusal)
                    else:
                        answered.append(event)
        if answered:
            await self._store("answered")
            for given in answered:
                given.take()

    def _end_call(self, ended: CallEnded) -> None:
        run, program, now = self._live.run, self._live.program, self._means.clock.now()
        del self._scopes[ended.call_id]
        match ended.result:
            case CallFailure() as failure:
                fail(program, run, ended.call_id, failure, now=now, jitter=self._means.chance())
            case CallResult(outcome, output):
                complete(program, run, ended.call_id, outcome=outcome, output=output, now=now)

    async def _store(self, reason: str) -> None:
        await store(self._means, self._live, reason)
        self._stored_at = anyio.current_time()
        self._told = self._live.run.counters.interrupt
