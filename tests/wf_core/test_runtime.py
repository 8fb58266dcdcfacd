"""Any plan, any behaviour of the outside, any order in which things end: what has to hold for all of them.

`pytest tests/wf_core/test_runtime.py --hypothesis-profile thorough` looks far longer.
"""

from random import Random
from typing import Any

from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

from tests.wf_core import naive
from tests.wf_core.kernel import Driver, Json, begin
from tests.wf_core.plans import CONTRACTS, INPUTS, Behaviour, plans
from tests.wf_core.validation.plans import by_source
from wf_core.codec import dump_run, load_run
from wf_core.runtime import Invocation, Ready, Stopped, Waiting
from wf_core.runtime.linking import link
from wf_core.runtime.tree import descend
from wf_core.state import Calling, Delayed, Frame, Looping, RunState
from wf_core.validation.read import read_plan

EXAMPLES = settings(
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

SEEDS = st.integers(0, 2**32)
TROUBLE = st.sampled_from([0, 10, 40])

MOST_EVENTS = 2_000
"""A plan that multiplies its own lists goes on for too long to learn anything more from it."""

Event = tuple[str, str]


class Outside:
    """Plays the outside for one run, one event at a time."""

    def __init__(self, drive: Driver, behaviour: Behaviour) -> None:
        self.drive = drive
        self.behaviour = behaviour
        self.due: Any = None

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
        calls = [("call", call_id) for call_id in self.drive.pending]
        answers = [("answer", interrupt_id) for interrupt_id in self.run.interrupts]
        return calls + answers + ([("time", "")] if self.due is not None else [])

    def happen(self, what: Event) -> None:
        match what:
            case ("call", call_id):
                self.drive.deliver(call_id, self._act)
            case ("answer", interrupt_id):
                question = self.run.interrupts[interrupt_id]
                outcome, payload = self.behaviour.answer(question.path, question.payload)
                self.drive.answer(payload, interrupt_id, outcome=outcome)
            case _:
                self.drive.now = max(self.drive.now, self.due)
                self.look()

    def _act(self, call: Invocation) -> Any:
        return self.behaviour.call(call.capability, call.path, call.input, call.attempt)


def play(document: Json, given: Any, behaviour: Behaviour, order: int) -> RunState:
    """Run a plan to its end; `order` says what happens next wherever there is a choice."""
    outside = Outside(begin(document, given, contracts=CONTRACTS), behaviour)
    chance = Random(order)
    outside.look()
    for _ in range(MOST_EVENTS):
        events = outside.events()
        if not events:
            return outside.run
        outside.happen(chance.choice(events))
        if chance.random() < 0.7 or not outside.events():
            outside.look()
    assume(False)
    raise AssertionError


@EXAMPLES
@given(plans(), INPUTS, SEEDS, TROUBLE, SEEDS)
def test_a_run_stored_and_loaded_after_every_transition_is_the_same_run_as_one_that_never_was(
    document: Json, given: Any, seed: int, trouble: int, order: int
) -> None:
    """Step by step the same bytes, at the end the same trace, and every state that was written was also read."""
    behaviour = Behaviour(seed, trouble)
    straight = Outside(begin(document, given, contracts=CONTRACTS), behaviour)
    stored = Outside(begin(document, given, contracts=CONTRACTS, reloading=True), behaviour)
    chance = Random(order)
    both = (straight, stored)
    for _ in range(MOST_EVENTS):
        if chance.random() < 0.7 or not straight.events():
            for outside in both:
                outside.look()
            assert_places_are_kept(straight.run)
            assert_derived_is_as_it_was(straight)
        events = straight.events()
        assert events == stored.events()
        assert dump_run(straight.run) == dump_run(stored.run)
        if not events:
            break
        what = chance.choice(events)
        for outside in both:
            outside.happen(what)
    assert straight.drive.raw_trace == stored.drive.raw_trace
    assert [entry["index"] for entry in straight.drive.trace] == list(range(straight.run.trace_count))
    event(straight.run.status if straight.run.error is None else straight.run.error.code)


@EXAMPLES
@given(plans(safe=True), INPUTS, SEEDS, SEEDS)
def test_the_kernel_and_a_naive_interpreter_agree_on_outcome_and_output(
    document: Json, given: Any, seed: int, order: int
) -> None:
    behaviour = Behaviour(seed)
    run = play(document, given, behaviour, order)
    assume(run.error is None or run.error.code != "step_limit_exceeded")
    assert run.status == "completed", run.error

    def call(capability: str, where: tuple[str, ...], asked: Json) -> tuple[str, Any]:
        reply = behaviour.call(capability, where, asked, 1)
        return reply.outcome, reply.output

    expected = naive.run(document, given, call, behaviour.answer)
    assert repr((run.outcome, run.output)) == repr(expected)


@EXAMPLES
@given(plans(safe=True), INPUTS, SEEDS, SEEDS, SEEDS)
def test_the_order_in_which_things_end_changes_nothing_of_the_output(
    document: Json, given: Any, seed: int, one: int, other: int
) -> None:
    first, second = (play(document, given, Behaviour(seed), order) for order in (one, other))
    assert repr((first.outcome, first.output)) == repr((second.outcome, second.output))


@EXAMPLES
@given(plans())
def test_every_plan_that_is_tried_here_is_valid(document: Json) -> None:
    report = read_plan(document, sources=by_source(CONTRACTS))
    assert [issue for issue in report.issues if issue.severity == "error"] == []


def assert_places_are_kept(run: RunState) -> None:
    """See that no loop has more items executing than it allows, and that none waits for a place that is free."""
    for frame in run.frames.values():
        step = frame.program.plan.steps[frame.step_id]
        if isinstance(frame.activity, Looping):
            loop = frame.activity
            width = step.max_active if step.mode == "concurrent" else 1
            busy = [number for number in loop.active.values() if executes(run, run.frames[number])]
            assert len(busy) == loop.places <= width
            assert not loop.parked or len(busy) == width
            more = loop.next_index < len(loop.items) and not loop.broken
            free = step.mode == "concurrent" or not loop.active
            assert not (more and free and len(busy) < width) or frame.parked


def executes(run: RunState, frame: Frame) -> bool:
    below = list(descend(run, frame))
    return any(isinstance(one.activity, (Calling, Delayed)) or one.id in run.ready for one in below)


def assert_derived_is_as_it_was(outside: Outside) -> None:
    """See that what is not stored is derived from what is."""
    loaded = load_run(dump_run(outside.run))
    link(loaded, outside.drive.program)
    assert loaded.delays == outside.run.delays
    for number, frame in outside.run.frames.items():
        again = loaded.frames[number]
        assert (again.prefix, again.awake, again.parked) == (frame.prefix, frame.awake, frame.parked)
        assert again.busy == frame.busy
