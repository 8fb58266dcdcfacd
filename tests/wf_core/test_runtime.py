"""Any plan, any behaviour of the outside, any order in which things end: what has to hold for all of them.

`pytest tests/wf_core/test_runtime.py --hypothesis-profile thorough` looks far longer.
"""

from copy import deepcopy
from random import Random
from typing import Any

from hypothesis import assume, event, given

from tests.wf_core import naive
from tests.wf_core.kernel import Json, begin
from tests.wf_core.outside import EXAMPLES, MOST_EVENTS, SEEDS, TROUBLE, Outside, play
from tests.wf_core.plans import CONTRACTS, INPUTS, LASTING, Behaviour, plans, policies
from tests.wf_core.validation.plans import by_source
from wf_core.codec import dump_run, load_run
from wf_core.runtime.linking import link
from wf_core.runtime.program import LoopCode
from wf_core.runtime.tree import descend
from wf_core.state import FINAL, Calling, Delayed, Frame, Looping, RunState
from wf_core.validation.read import read_plan


@EXAMPLES
@given(plans(), INPUTS, SEEDS, TROUBLE, SEEDS, policies())
def test_a_run_stored_and_loaded_after_every_transition_is_the_same_run_as_one_that_never_was(
    document: Json, given: Any, seed: int, trouble: int, order: int, policy: Json
) -> None:
    """Step by step the same bytes, at the end the same trace, and every state that was written was also read."""
    behaviour = Behaviour(seed, trouble)
    drives = [begin(document, given, contracts=CONTRACTS, policy=policy, reloading=again) for again in (False, True)]
    straight, stored = (Outside(drive, behaviour, puts_off=seed % 2 == 0) for drive in drives)
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
@given(plans(), INPUTS, SEEDS, TROUBLE, SEEDS, policies())
def test_a_run_that_is_taken_over_at_any_point_and_settled_in_any_way_comes_to_an_end(
    document: Json, given: Any, seed: int, trouble: int, order: int, policy: Json
) -> None:
    """Every state on the way is one that can be stored; nothing is left at the end."""
    drive = begin(document, given, contracts=CONTRACTS, policy=policy)
    outside = Outside(drive, Behaviour(seed, trouble), puts_off=True)
    attempts: dict[str, int] = {}

    def look_around() -> None:
        if not outside.run.ready:
            assert_places_are_kept(outside.run)
        assert_derived_is_as_it_was(outside)
        for call_id, call in outside.run.calls.items():
            assert call.attempt >= attempts.get(call_id, 1)
            attempts[call_id] = call.attempt

    run = outside.play(Random(order), crashes=0.15, after=look_around)
    assert run.status in FINAL
    assert (run.frames, run.lineages, run.calls, run.interrupts, run.delays, run.pending_calls) == (
        {},
        {},
        {},
        {},
        {},
        {},
    )
    event(run.status)


@EXAMPLES
@given(plans(), INPUTS, SEEDS, TROUBLE, SEEDS)
def test_what_was_in_flight_when_a_run_is_taken_over_begins_again_or_is_in_doubt(
    document: Json, given: Any, seed: int, trouble: int, order: int
) -> None:
    outside = Outside(begin(document, given, contracts=CONTRACTS), Behaviour(seed, trouble))
    chance = Random(order)
    outside.look()
    for _ in range(chance.randrange(8)):
        if events := outside.events():
            outside.happen(chance.choice(events))
            outside.look()
    lost = deepcopy(outside.run.calls)
    doubted = outside.run.pending_calls.keys()
    outside.crash()
    once = {call_id for call_id, call in lost.items() if not CONTRACTS[call.capability].hints.repeatable}
    assert outside.run.pending_calls.keys() == once | doubted
    outside.look()
    for call_id in lost.keys() - once:
        begun = outside.run.calls[call_id]
        assert (begun.attempt, begun.input) == (lost[call_id].attempt + 1, lost[call_id].input)
    outside.drive.cancel("enough")
    assert load_run(dump_run(outside.run)).pending_calls == {}


@EXAMPLES
@given(plans(safe=True), INPUTS, SEEDS, SEEDS, policies(LASTING))
def test_crashes_and_policies_change_nothing_of_the_output_where_somebody_says_what_became_of_each_call(
    document: Json, given: Any, seed: int, order: int, policy: Json
) -> None:
    expected = play(document, given, Behaviour(seed), order)
    drive = begin(document, given, contracts=CONTRACTS, policy=policy, reloading=True)
    outside = Outside(drive, Behaviour(seed), words=("completed", "retry"), puts_off=True)
    run = outside.play(Random(order), crashes=0.15)
    assert repr((run.outcome, run.output)) == repr((expected.outcome, expected.output))


@EXAMPLES
@given(plans())
def test_every_plan_that_is_tried_here_is_valid(document: Json) -> None:
    report = read_plan(document, sources=by_source(CONTRACTS))
    assert [issue for issue in report.issues if issue.severity == "error"] == []


def assert_places_are_kept(run: RunState) -> None:
    """See that no loop has more items executing than it allows, and that none waits for a place that is free."""
    for frame in run.frames.values():
        if isinstance(frame.activity, Looping):
            loop = frame.activity
            code: LoopCode = frame.program.steps[frame.step_id]
            busy = [number for number in loop.active.values() if executes(run, run.frames[number])]
            assert len(busy) == loop.places <= code.width
            assert not loop.parked or len(busy) == code.width
            more = loop.next_index < len(loop.items) and not loop.broken
            free = code.concurrent or not loop.active
            assert not (more and free and len(busy) < code.width) or frame.parked


def executes(run: RunState, frame: Frame) -> bool:
    # A call that may be repeated waits for a place as an answered question does.
    return any(
        one.id in run.ready or (isinstance(one.activity, (Calling, Delayed)) and not one.parked)
        for one in descend(run, frame)
    )


def assert_derived_is_as_it_was(outside: Outside) -> None:
    """See that what is not stored is derived from what is."""
    loaded = load_run(dump_run(outside.run))
    link(loaded, outside.drive.program)
    assert (loaded.delays, loaded.expiries) == (outside.run.delays, outside.run.expiries)
    for number, frame in outside.run.frames.items():
        again = loaded.frames[number]
        assert (again.prefix, again.awake, again.parked) == (frame.prefix, frame.awake, frame.parked)
        assert again.busy == frame.busy
