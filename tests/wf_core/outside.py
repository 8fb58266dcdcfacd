"""The outside of one run, one event at a time: calls end, questions are answered, time passes, processes die."""

from collections.abc import Callable, Sequence
from datetime import datetime
from random import Random
from typing import Any, Literal

from hypothesis import HealthCheck, assume, settings
from hypothesis import strategies as st

from tests.wf_core.kernel import Driver, Failed, Json, begin
from tests.wf_core.plans import CONTRACTS, Behaviour
from wf_core.errors import InvalidResult
from wf_core.runtime import Invocation, Ready, Stopped, Waiting
from wf_core.runtime.linking import link
from wf_core.state import Pending, RunState

EXAMPLES = settings(
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

SEEDS = st.integers(0, 2**32)
TROUBLE = st.sampled_from([0, 10, 40])

MOST_EVENTS = 2_000
"""A plan that multiplies its own lists goes on for too long to learn anything more from it."""

Event = tuple[str, str]
Word = Literal["completed", "failed", "retry"]
WORDS: tuple[Word, ...] = ("completed", "failed", "retry")


class Outside:
    """Plays the outside for one run, one event at a time."""

    def __init__(
        self, drive: Driver, behaviour: Behaviour, *, words: Sequence[Word] = WORDS, puts_off: bool = False
    ) -> None:
        self.drive = drive
        self.behaviour = behaviour
        self.words = words
        """What may be said of calls that wait."""
        self.puts_off = puts_off
        """Whether callees put some calls off."""
        self.due: datetime | None = None

    @property
    def run(self) -> RunState:
        return self.drive.run

    def look(self) -> None:
        work = self.drive.look()
        while isinstance(work, Ready):
            work = self.drive.look()
        self.due = work.until if isinstance(work, Waiting) else None
        assert isinstance(work, Stopped) == (not self.drive.pending and self.due is None)

    def events(self) -> list[Event]:
        """Say what could happen next."""
        link(self.run, self.drive.program)
        calls = [("call", call_id) for call_id in self.drive.pending]
        answers = [("answer", interrupt_id) for interrupt_id in self.run.interrupts]
        words = [("word", call_id) for call_id in self.run.pending_calls]
        expires = [("expire", "")] if self.run.status == "interrupted" and self.run.expiries else []
        return calls + answers + words + expires + ([("time", "")] if self.due is not None else [])

    def happen(self, what: Event) -> None:
        match what:
            case ("call", call_id):
                call = self.drive.pending[call_id]
                if self.puts_off and self.behaviour.number("put off", call_id, call.attempt) % 3 == 0:
                    self.drive.put_off(call_id, "callee" if call.attempt % 2 else "isolated")
                else:
                    self.drive.deliver(call_id, self._act)
            case ("answer", interrupt_id):
                question = self.run.interrupts[interrupt_id]
                outcome, payload = self.behaviour.answer(question.path, question.payload)
                self.drive.answer(payload, interrupt_id, outcome=outcome)
            case ("word", call_id):
                self._settle(call_id)
            case ("expire", _):
                self.drive.now = max(self.drive.now, *self.run.expiries.values())
                self.drive.expire()
            case _:
                assert self.due is not None
                self.drive.now = max(self.drive.now, self.due)
                self.look()

    def crash(self) -> None:
        """Let the process die that advances the run, and another take it over."""
        self.drive.crash()
        self.due = None

    def play(self, chance: Random, *, crashes: float = 0.0, after: Callable[[], None] = lambda: None) -> RunState:
        """Go on to the end of the run; `after` looks at it after each event."""
        self.look()
        for _ in range(MOST_EVENTS):
            after()
            events = self.events()
            if not events:
                return self.run
            if chance.random() < crashes:
                self.crash()
            else:
                self.happen(chance.choice(events))
            if chance.random() < 0.7 or not self.events():
                self.look()
        assume(False)
        raise AssertionError

    def _act(self, call: Invocation) -> Any:
        return self.behaviour.call(call.capability, call.path, call.input, call.attempt)

    def _settle(self, call_id: str) -> None:
        link(self.run, self.drive.program)
        frame = self.run.frames[self.run.pending_calls[call_id]]
        assert isinstance(frame.activity, Pending)
        call = frame.activity.call
        if frame.activity.expires_at is not None and self.drive.now >= frame.activity.expires_at:
            self.drive.expire()
            return
        word = self.words[self.behaviour.number("doubt", call_id, call.attempt) % len(self.words)]
        match frame.activity.awaits, word:
            case "approval", "completed" | "retry":
                self.drive.settle(call_id, "approved")
                return
            case "callee", "retry":
                self.drive.doubt(call_id, "gone")
                return
            case "deferred" | "isolated", "retry":
                word = "completed"
            case _:
                pass
        if word != "completed":
            self.drive.settle(call_id, word)
            return
        try:
            reply = self.behaviour.call(call.capability, (*frame.prefix, frame.step_id), call.input, call.attempt)
            self.drive.settle(call_id, word, outcome=reply.outcome, output=reply.output)
        except (Failed, InvalidResult):
            self.drive.settle(call_id, "failed")


def play(document: Json, given: Any, behaviour: Behaviour, order: int) -> RunState:
    """Run a plan to its end; `order` says what happens next wherever there is a choice."""
    return Outside(begin(document, given, contracts=CONTRACTS), behaviour).play(Random(order))
