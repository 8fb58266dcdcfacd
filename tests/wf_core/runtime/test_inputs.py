"""The inputs of a run as records: a run is its latest checkpoint and the inputs since."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from random import Random
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.wf_core.kernel import Driver, Json, ask, begin, each, node, path, plan
from tests.wf_core.outside import EXAMPLES, SEEDS, TROUBLE, Outside
from tests.wf_core.plans import CONTRACTS, INPUTS, Behaviour, plans, policies
from wf_core.codec import dump_run, load_run
from wf_core.codec.inputs import dump_input, load_journal
from wf_core.errors import RunRefused, StateCorrupt
from wf_core.runtime import Answer, Stopped
from wf_core.runtime.inputs import Complete, Input, NextWork, Resume, apply, replay
from wf_core.state import RunState

STEPS = {
    "each": each("say", to="ask"),
    "say": node(
        "t.picky",
        input={"value": path("context.x")},
        retry={"on": "any", "max_attempts": 2, "initial_delay_seconds": 30},
    ),
    "ask": ask(),
}
PLAN = plan(STEPS)


def line(position: int, given: Input, trace: list[bytes]) -> bytes:
    return b'{"position":%d,"input":%s,"trace":[%s]}' % (position, dump_input(given), b",".join(trace))


def lines(drive: Driver) -> list[bytes]:
    return [line(*record) for record in drive.journal]


def played(items: list[str]) -> tuple[Driver, RunState]:
    """Give a run that has stopped, and the run as it was at its start."""
    drive = begin(PLAN, {"items": items})
    before = load_run(dump_run(drive.run))
    drive.go()
    return drive, before


def test_the_position_counts_the_inputs_that_were_applied() -> None:
    drive = begin(plan({"say": node()}))
    assert drive.run.position == 0
    drive.go()
    assert drive.run.position == len(drive.journal) == 3
    assert load_run(dump_run(drive.run)).position == 3


def test_only_the_question_for_what_is_next_has_an_answer() -> None:
    drive = begin(plan({"say": node()}))
    drive.look()
    assert apply(drive.program, drive.run, Complete(drive.now, "c1", "ok", {})) is None
    assert apply(drive.program, drive.run, NextWork(drive.now)) == Stopped("completed")


@pytest.mark.parametrize(
    "refused",
    [Complete(datetime(2026, 1, 1, tzinfo=UTC), "c9", "ok", {}), Resume(datetime(2026, 1, 1, tzinfo=UTC), Answer({}))],
)
def test_an_input_that_is_refused_leaves_the_run_and_its_position_as_they_were(refused: Input) -> None:
    drive = begin(plan({"say": node()}))
    drive.look()
    before = dump_run(drive.run)
    with pytest.raises(RunRefused):
        apply(drive.program, drive.run, refused)
    assert dump_run(drive.run) == before


def test_what_is_replayed_gives_its_trace_entries_to_nobody_again() -> None:
    drive, run = played(["a"])
    replay(drive.program, run, load_journal(lines(drive)))
    assert run.take_trace() == []
    assert run.trace_count == len(drive.raw_trace)


def refused(journal: list[bytes], items: list[str]) -> StateCorrupt:
    drive = begin(PLAN, {"items": items})
    with pytest.raises(StateCorrupt) as caught:
        replay(drive.program, drive.run, load_journal(journal))
    return caught.value


ITEMS = ["good", "bad", "fine"]

DAMAGE: dict[str, Callable[[list[bytes]], list[bytes]]] = {
    "a line is missing": lambda journal: [*journal[:2], *journal[3:]],
    "the first line is missing": lambda journal: journal[1:],
    "a line stands twice": lambda journal: [*journal[:2], *journal[1:]],
    "two lines changed places": lambda journal: [journal[1], journal[0], *journal[2:]],
    "a position is wrong": lambda journal: [*journal[:3], journal[3].replace(b'"position":4', b'"position":9')],
    "an entry is missing": lambda journal: [
        one.replace(one[one.index(b'"trace":[{') :], b'"trace":[]}') if b'"trace":[{' in one else one for one in journal
    ],
    "an entry is too many": lambda journal: [journal[0].replace(b'"trace":[', b'"trace":[{}'), *journal[1:]],
    "the input is another": lambda journal: [journal[0], journal[1].replace(b'"c1"', b'"c7"'), *journal[2:]],
    "the kind is unknown": lambda journal: [journal[0].replace(b"next_work", b"next_step"), *journal[1:]],
    "the time is beyond the calendar": lambda journal: [
        one.replace(b"2026-", b"9999-").replace(b"-11-30T10:00:0", b"-12-31T23:59:5") for one in journal
    ],
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_journal_that_is_damaged_is_refused(name: str) -> None:
    journal = lines(played(ITEMS)[0])
    damaged = DAMAGE[name](journal)
    assert damaged != journal
    assert refused(damaged, ITEMS).code == "state_corrupt"


def test_the_error_names_the_run_and_the_position() -> None:
    journal = lines(played(ITEMS)[0])
    assert refused(journal[1:], ITEMS).details == {"run_id": "run_test", "position": 2}


def test_the_journal_of_another_run_is_refused() -> None:
    refused(lines(played(["good"])[0]), ITEMS)
    other = begin(plan({"ask": ask()}))
    other.look()
    other.answer()
    refused(lines(other), ITEMS)


def test_a_journal_does_not_fit_a_checkpoint_that_is_younger() -> None:
    drive, _ = played(ITEMS)
    with pytest.raises(StateCorrupt):
        replay(drive.program, load_run(dump_run(drive.run)), load_journal(lines(drive)))


@EXAMPLES
@given(plans(), INPUTS, SEEDS, TROUBLE, SEEDS, st.floats(0, 1), st.floats(0, 1), policies())
def test_a_checkpoint_taken_anywhere_and_the_journal_after_it_are_the_run(
    document: Json, start: Any, seed: int, trouble: int, order: int, taken: float, died: float, policy: Json
) -> None:
    """Byte for byte the run that was lost, and it goes on, input by input, to the same end."""
    drive = begin(document, start, contracts=CONTRACTS, policy=policy)
    drive.states = states = [dump_run(drive.run)]
    Outside(drive, Behaviour(seed, trouble), puts_off=True).play(Random(order), crashes=0.1)
    first = round(taken * (len(states) - 1))
    last = first + round(died * (len(states) - 1 - first))

    run = load_run(states[first])
    replay(drive.program, run, load_journal(lines(drive)[first:last]))
    assert dump_run(run) == states[last]
    for (_, given_then, trace), state in zip(drive.journal[last:], states[last + 1 :], strict=True):
        apply(drive.program, run, given_then)
        assert run.take_trace() == trace
        assert dump_run(run) == state


@EXAMPLES
@given(plans(), INPUTS, SEEDS, TROUBLE, SEEDS, policies())
def test_a_result_with_which_the_driver_goes_on_is_the_result_and_the_question_what_is_next(
    document: Json, start: Any, seed: int, trouble: int, order: int, policy: Json
) -> None:
    drive = begin(document, start, contracts=CONTRACTS, policy=policy)
    run = load_run(dump_run(drive.run))
    Outside(drive, Behaviour(seed, trouble), puts_off=True).play(Random(order), crashes=0.1)
    entries: list[bytes] = []
    told = [one for _, one, _ in drive.journal]
    while told:
        first, following = told.pop(0), told[:1]
        if isinstance(first, Complete) and following == [NextWork(first.now)]:
            first = replace(first, goes_on=bool(told.pop(0)))
        apply(drive.program, run, first)
        entries += run.take_trace()
    run.position = drive.run.position
    assert dump_run(run) == dump_run(drive.run)
    assert entries == drive.raw_trace


def test_one_that_goes_on_says_what_is_next() -> None:
    drive = begin(plan({"say": node()}))
    drive.look()
    assert apply(drive.program, drive.run, Complete(drive.now, "c1", "ok", {}, goes_on=True)) == Stopped("completed")


@EXAMPLES
@given(plans(), INPUTS, SEEDS, st.integers(0, 2**32), st.floats(0, 1))
def test_no_line_of_a_journal_can_be_left_out(
    document: Json, start: Any, seed: int, order: int, left_out: float
) -> None:
    drive = begin(document, start, contracts=CONTRACTS)
    run = load_run(dump_run(drive.run))
    Outside(drive, Behaviour(seed)).play(Random(order), crashes=0.1)
    journal = lines(drive)
    assume(len(journal) > 1)
    del journal[round(left_out * (len(journal) - 2))]
    with pytest.raises(StateCorrupt):
        replay(drive.program, run, load_journal(journal))
