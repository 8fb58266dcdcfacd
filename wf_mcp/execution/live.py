"""A run while this process advances it: what happens to it, and who wants to hear of it.

Advancing it is `runs`; here the advancing task, the calls in flight and the waiters meet.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import anyio

from wf_core.frozen import frozen
from wf_core.ids import RunId
from wf_core.runtime import CallFailure
from wf_core.runtime.inputs import Doubt, Expire, Resume, Settle
from wf_mcp.execution.invoke import Deferred
from wf_mcp.execution.journal import Journal
from wf_mcp.execution.listening import Listening, Offer
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


class AnswerGiven(Offer):
    """Somebody answers a question, or says something of a call that waits, and wants to hear whether that is taken."""

    def __init__(self, given: Given) -> None:
        super().__init__()
        self.given = given


Event = CallEnded | CancelAsked | AnswerGiven


class LiveRun(Listening[Event]):
    """One run that is being advanced."""

    def __init__(self, journal: Journal) -> None:
        super().__init__()
        self.journal = journal
        self._steps = 0
        self._call = ("", "")
        """Step and capability of the call that began last."""
        self._moved: anyio.Event | None = None
        """What the followers wait for; None while there are none."""

    @property
    def run_id(self) -> RunId:
        return self.journal.record.run_id

    async def answer(self, answer: Given) -> bool:
        """Let the advancing task take an answer, and give whether it did before it came to an end.

        Raises:
            WfError: the answer was refused; nothing has changed.
        """
        given = AnswerGiven(answer)
        self.post(given)
        return await self._heard(given)

    def report(self, step_id: str, capability: str) -> None:
        """Show the followers where the run is: a call begins."""
        self._steps, self._call = self.journal.run.steps_executed, (step_id, capability)
        self._move()

    def end(self) -> None:
        super().end()
        self._move()

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
