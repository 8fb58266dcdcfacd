"""A run while this process advances it: what happens to it, and who wants to hear of it.

Advancing it is `runs`; here the advancing task, the calls in flight and the waiters meet.
"""

from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import anyio

from wf_core.errors import WfError
from wf_core.frozen import frozen
from wf_core.ids import RunId
from wf_core.runtime import CallFailure
from wf_core.runtime.inputs import Doubt, Expire, Resume, Settle
from wf_mcp.execution.invoke import Deferred
from wf_mcp.execution.journal import Journal
from wf_mcp.sources.protocol import CallResult

Given = Resume | Doubt | Settle | Expire
"""What is said to a run from outside, and taken before anything is done about it."""

Progress = Callable[[int, str], Awaitable[None]]
"""Told how many steps have been executed, which grows from call to call, and what is under way."""


@frozen
class CallEnded:
    """A call in flight gave its result, failed, or waits now."""

    call_id: str
    result: CallResult | CallFailure | Deferred


@dataclass(frozen=True, slots=True)
class CancelAsked:
    """Somebody wants the run to end."""

    reason: str | None


class AnswerGiven:
    """Somebody answers a question, or says something of a call that waits, and wants to hear whether that is taken."""

    def __init__(self, given: Given) -> None:
        self.given = given
        self._taken = False
        self._refusal: WfError | None = None
        self._settled = anyio.Event()

    def take(self) -> None:
        """Acknowledge the answer: it is stored."""
        self._taken = True
        self._settled.set()

    def refuse(self, refusal: WfError) -> None:
        """Say why the answer is not taken; it has changed nothing."""
        self._refusal = refusal
        self._settled.set()

    def pass_over(self) -> None:
        """Say that nobody advances the run here any more. What was said of the answer before stands."""
        self._settled.set()

    async def taken(self) -> bool:
        """Wait for the word, and give whether the answer was taken, or else passed over.

        Raises:
            WfError: the answer was refused.
        """
        await self._settled.wait()
        if self._refusal is not None:
            raise self._refusal
        return self._taken


Event = CallEnded | CancelAsked | AnswerGiven


class LiveRun:
    """One run that is being advanced."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.fault: WfError | None = None
        """Why advancing ended although the run did not stop. It stands as it was last written."""
        self._inbox: deque[Event] = deque()
        self._answers: list[AnswerGiven] = []
        """Those on which the word may be outstanding."""
        self._arrived = anyio.Event()
        self._ended = anyio.Event()
        self._steps = 0
        self._call = ("", "")
        """Step and capability of the call that began last."""
        self._moved: anyio.Event | None = None
        """What the followers wait for; None while there are none."""

    @property
    def run_id(self) -> RunId:
        return self.journal.record.run_id

    def post(self, event: Event) -> None:
        """Let the advancing task know of `event`."""
        self._inbox.append(event)
        self._arrived.set()

    async def answer(self, answer: Given) -> bool:
        """Let the advancing task take an answer, and give whether it did before it came to an end.

        Raises:
            WfError: the answer was refused; nothing has changed.
        """
        given = AnswerGiven(answer)
        if self._ended.is_set():
            return False
        self._answers.append(given)
        self.post(given)
        try:
            return await given.taken()
        finally:
            self._answers.remove(given)

    @property
    def is_quiet(self) -> bool:
        """Whether nothing was posted that has not been taken."""
        return not self._inbox

    async def wait_for_news(self, *, seconds: float | None) -> None:
        """Wait for at most `seconds` until something was posted, and leave it."""
        if not self._inbox:
            with anyio.move_on_after(seconds):
                await self._arrived.wait()

    async def receive(self, *, seconds: float | None) -> list[Event]:
        """Wait for at most `seconds` for what was posted, and take all of it, in the order in which it came."""
        await self.wait_for_news(seconds=seconds)
        taken = list(self._inbox)
        self._inbox.clear()
        if taken:
            self._arrived = anyio.Event()
        return taken

    def report(self, step_id: str, capability: str) -> None:
        """Show the followers where the run is: a call begins."""
        self._steps, self._call = self.journal.run.steps_executed, (step_id, capability)
        self._move()

    def end(self) -> None:
        """Let those go who wait; the run is stored and its claim is free."""
        self._ended.set()
        self._move()
        for given in self._answers:
            given.pass_over()

    async def wait(self) -> None:
        """Wait until nobody advances the run here any more."""
        await self._ended.wait()

    async def follow(self, progress: Progress) -> None:
        """Wait as `wait` does, and tell of each advance. A slow listener misses steps, it does not hold up the run."""
        told = 0
        while True:
            if self._steps > told:
                told = self._steps
                await progress(told, ": ".join(self._call))
            elif self._ended.is_set():
                return
            else:
                if self._moved is None:
                    self._moved = anyio.Event()
                await self._moved.wait()

    def _move(self) -> None:
        if self._moved is not None:
            self._moved.set()
            self._moved = None
