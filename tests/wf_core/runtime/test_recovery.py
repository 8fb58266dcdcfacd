"""After a crash: calls that begin again, calls in doubt, and what a person says of them."""

from typing import Any

import pytest

from tests.wf_core.kernel import (
    IDEMPOTENT,
    LIST,
    READ_ONLY,
    WITH_ERROR,
    Driver,
    Failed,
    Json,
    begin,
    each,
    echo,
    error_of,
    loop,
    node,
    output_of,
    parallel,
    path,
    plan,
    put,
    value,
)
from wf_core.calls.contract import Contract
from wf_core.codec import dump_run, load_run
from wf_core.errors import CallAlreadyCompleted, InvalidResult, UnknownCall, WrongAnswerKind
from wf_core.runtime import Ready, Stopped
from wf_core.state import Delayed, Pending

SAYS = plan({"say": put("state.seen", value("said"))}, {"seen": LIST}, output={"seen": path("state.seen")})


def crashed(document: Json = SAYS, given: Any = None, **more: Any) -> Driver:
    """Give a run whose process died while its first calls were in flight."""
    drive = begin(document, given, **more)
    drive.look()
    drive.wait(60)
    drive.crash()
    return drive


@pytest.mark.parametrize("contract", [READ_ONLY, IDEMPOTENT], ids=["read only", "idempotent"])
def test_a_call_that_may_be_repeated_begins_again_as_the_next_attempt_of_the_same_call(contract: Contract) -> None:
    drive = crashed(contracts={"t.echo": contract})
    assert drive.run.pending_calls == {}
    work = drive.look()
    assert isinstance(work, Ready)
    ((first, again),) = [(drive.made[0], call) for call in work.calls]
    assert (again.call_id, again.attempt, again.input) == (first.call_id, first.attempt + 1, first.input)
    assert drive.run.calls["c1"].started_at == drive.now
    assert output_of(drive.go()) == {"seen": ["said"]}


def test_any_other_call_is_in_doubt_and_nothing_is_called() -> None:
    drive = crashed()
    assert drive.run.pending_calls == {"c1": 0}
    assert drive.look() == Stopped("interrupted")
    assert (drive.run.calls, len(drive.made)) == ({}, 1)


def test_a_doubt_says_what_was_called_and_when_the_attempt_began() -> None:
    drive = crashed()
    doubt = drive.run.frames[0].activity
    assert isinstance(doubt, Pending)
    assert (doubt.call.capability, doubt.call.input, doubt.call.attempt) == ("t.echo", {"value": "said"}, 1)
    assert (drive.now - doubt.call.started_at).total_seconds() == 60


def test_doubts_are_there_in_a_run_that_was_just_loaded() -> None:
    loaded = load_run(dump_run(crashed().run))
    assert loaded.pending_calls == {"c1": 0}


def test_a_run_that_is_taken_over_twice_has_its_doubt_once() -> None:
    drive = crashed()
    drive.crash()
    assert drive.run.pending_calls == {"c1": 0}


def test_a_call_that_waits_for_its_next_attempt_goes_on_waiting() -> None:
    drive = begin(plan({"say": node("t.breaks", retry={"on": "any", "initial_delay_seconds": 5})}))
    drive.look()
    drive.deliver()
    before = drive.run.frames[0].activity
    drive.crash()
    assert drive.run.frames[0].activity == before
    assert isinstance(before, Delayed)


def test_a_call_settled_as_completed_goes_on_as_if_it_had_answered() -> None:
    drive = crashed()
    drive.settle("c1", "completed", output={"value": "told"})
    assert output_of(drive.go()) == {"seen": ["told"]}
    assert len(drive.made) == 1


def test_a_call_may_be_settled_while_other_steps_go_on() -> None:
    drive = two_at_once()
    assert drive.run.status == "running"
    drive.settle("c1", "completed", output={})
    assert drive.go().status == "completed"


def two_at_once() -> Driver:
    steps = {"both": parallel({"l": "once", "r": "again"}), "once": node(), "again": node("t.read")}
    return crashed(plan(steps), fakes={"t.read": echo}, contracts={"t.read": READ_ONLY})


@pytest.mark.parametrize(
    ("told", "problem"),
    [
        ({"output": {"value": 3}}, "output.value"),
        ({"outcome": "unknown", "output": {"value": "x"}}, "unknown"),
        ({"output": {"value": float("nan")}}, "NaN"),
        ({}, "output"),
    ],
    ids=["output", "outcome", "no JSON", "nothing"],
)
def test_a_result_that_the_capability_could_not_have_given_is_refused_and_changes_nothing(
    told: Json, problem: str
) -> None:
    schema: Json = {"type": "object", "properties": {"value": {"type": "string"}}}
    drive = crashed(contracts={"t.echo": Contract(output_schema=schema)})
    drive.look()
    before = dump_run(drive.run)
    with pytest.raises(InvalidResult) as caught:
        drive.settle("c1", "completed", **told)
    assert caught.value.code == "invalid_result"
    assert problem in caught.value.message or problem in str(caught.value.details)
    assert dump_run(drive.run) == before


def test_the_outcome_error_without_a_route_may_be_told_and_fails_the_run() -> None:
    drive = crashed(contracts={"t.echo": WITH_ERROR})
    drive.settle("c1", "completed", outcome="error", output={"message": "sold out"})
    assert error_of(drive.go()) == ("capability_error", "say")
    assert drive.run.error is not None
    assert (drive.run.error.message, drive.run.error.side_effects) == ("sold out", "unknown")


def test_a_result_that_the_state_does_not_take_fails_the_step() -> None:
    document = plan({"say": put("state.n", value(1))}, {"n": {"type": "integer"}})
    drive = crashed(document)
    drive.settle("c1", "completed", output={"value": "text"})
    assert error_of(drive.run) == ("state_invalid", "say")


def test_a_call_settled_as_failed_is_not_retried_and_its_effects_are_unknown() -> None:
    drive = crashed(plan({"say": node(retry={"on": "any"})}))
    drive.settle("c1", "failed", message="the order is not there")
    assert error_of(drive.go()) == ("capability_error", "say")
    assert drive.run.error is not None
    assert (drive.run.error.message, drive.run.error.side_effects) == ("the order is not there", "unknown")
    assert len(drive.made) == 1


def test_a_call_settled_as_failed_takes_the_route_error() -> None:
    steps = {"say": node(routes={"ok": "__end__", "error": "note"}), "note": put("state.seen", value("noted"))}
    drive = crashed(plan(steps, {"seen": LIST}), contracts={"t.echo": WITH_ERROR})
    drive.settle("c1", "failed")
    assert drive.go().scopes[0].layer.whole() == {"seen": ["noted"]}


def test_a_call_settled_with_retry_begins_again_as_the_next_attempt_of_the_same_call() -> None:
    drive = crashed()
    drive.settle("c1", "retry")
    drive.look()
    assert [(call.call_id, call.attempt) for call in drive.made] == [("c1", 1), ("c1", 2)]
    assert output_of(drive.go()) == {"seen": ["said"]}


def noted(drive: Driver) -> list[tuple[Any, Any]]:
    """Give of each trace entry its outcome and what was said of the call."""
    return [(entry["outcome"], entry.get("settled")) for entry in drive.trace]


def said(kind: str) -> dict[str, str]:
    return {"by": "person", "kind": kind, "at": "2026-11-30T10:01:00.000Z"}


def test_the_trace_tells_what_a_person_said_of_a_call_and_when() -> None:
    completed, failed, again = crashed(), crashed(), crashed()
    completed.settle("c1", "completed", output={"value": "told"})
    failed.settle("c1", "failed")
    again.settle("c1", "retry")
    for drive in (completed, failed, again):
        drive.wait(5)
        drive.go()
    assert noted(completed) == [("ok", said("completed"))]
    assert noted(failed) == [(None, said("failed"))]
    assert noted(again) == [("ok", said("retry"))]


def test_of_several_words_about_a_call_the_trace_tells_the_last() -> None:
    drive = crashed()
    drive.settle("c1", "retry")
    drive.look()
    drive.crash()
    drive.wait(5)
    drive.settle("c1", "failed")
    assert noted(drive) == [(None, {**said("failed"), "at": "2026-11-30T10:01:05.000Z"})]


@pytest.mark.parametrize("kind", ["completed", "retry"])
def test_a_result_that_leads_nowhere_is_told_with_what_a_person_said(kind: Any) -> None:
    drive = crashed(plan({"say": node(output={"state.n": "value"})}, {"n": {"type": "integer"}}))
    drive.settle("c1", kind, **({"output": {"value": "text"}} if kind == "completed" else {}))
    drive.go()
    assert noted(drive) == [(None, said(kind))]


def test_a_call_that_ends_with_its_run_is_told_with_what_a_person_said() -> None:
    drive = crashed()
    drive.settle("c1", "retry")
    drive.cancel(None)
    assert noted(drive) == [(None, said("retry"))]


def not_reached(given: Json) -> Any:
    raise Failed("unreachable", "gone", executed=False)


@pytest.mark.parametrize("contract", [IDEMPOTENT, Contract()], ids=["idempotent", "in doubt"])
def test_what_the_lost_attempt_did_stays_unknown_whatever_becomes_of_the_next(contract: Contract) -> None:
    drive = crashed(plan({"say": node("t.echo")}), contracts={"t.echo": contract}, fakes={"t.echo": not_reached})
    for call_id in drive.run.pending_calls:
        drive.settle(call_id, "retry")
    assert error_of(drive.go()) == ("unreachable", "say")
    assert drive.run.error is not None
    assert (drive.run.error.attempt, drive.run.error.side_effects) == (2, "unknown")


def test_a_lost_attempt_of_a_reading_call_did_nothing() -> None:
    drive = crashed(contracts={"t.echo": READ_ONLY}, fakes={"t.echo": not_reached})
    drive.go()
    assert drive.run.error is not None
    assert drive.run.error.side_effects == "none"


def test_a_call_is_settled_once_and_what_was_told_first_stays() -> None:
    drive = crashed()
    drive.settle("c1", "completed", output={"value": "first"})
    with pytest.raises(CallAlreadyCompleted):
        drive.settle("c1", "completed", output={"value": "second"})
    assert output_of(drive.go()) == {"seen": ["first"]}
    with pytest.raises(CallAlreadyCompleted):
        drive.settle("c1", "retry")


def test_a_call_that_was_never_made_cannot_be_settled() -> None:
    with pytest.raises(UnknownCall):
        crashed().settle("c2", "failed")


def items(number: int) -> Json:
    return {"items": list(range(number))}


EACH = plan(
    {"each": each("say", max_active=1), "say": put("state.seen", path("context.x"))},
    {"seen": LIST},
    output={"seen": path("state.seen")},
)


def test_a_doubtful_item_of_a_concurrent_loop_holds_no_place() -> None:
    drive = crashed(EACH, items(3))
    drive.go()
    assert drive.run.status == "interrupted"
    assert list(drive.run.pending_calls) == ["c1"]
    assert drive.inputs == [{"value": 0}, {"value": 1}, {"value": 2}]


@pytest.mark.parametrize("reloading", [False, True])
def test_an_item_that_was_settled_waits_for_a_place(reloading: bool) -> None:
    drive = crashed(EACH, items(2), reloading=reloading)
    drive.look()
    assert list(drive.pending) == ["c2"]
    drive.settle("c1", "retry")
    drive.look()
    assert list(drive.pending) == ["c2"]
    drive.deliver("c2")
    drive.look()
    assert list(drive.pending) == ["c1"]
    assert output_of(drive.go()) == {"seen": [0, 1]}


def test_an_item_that_waits_for_a_place_to_begin_again_survives_another_crash() -> None:
    drive = crashed(EACH, items(2))
    drive.look()
    drive.settle("c1", "retry")
    drive.crash()
    drive.look()
    assert list(drive.pending) == ["c1"]
    assert list(drive.run.pending_calls) == ["c2"]


def test_a_serial_loop_waits_for_its_doubtful_item() -> None:
    steps = {"each": loop("say"), "say": put("state.seen", path("context.x"))}
    drive = crashed(plan(steps, {"seen": LIST}), items(2))
    assert drive.look() == Stopped("interrupted")
    drive.settle("c1", "completed", output={"value": "told"})
    assert drive.go().scopes[0].layer.whole() == {"seen": ["told", 1]}


def left_behind(drive: Driver) -> Any:
    run = load_run(dump_run(drive.run))
    return [run.frames, run.lineages, run.calls, run.interrupts, run.pending_calls, drive.run.delays]


def test_cancel_with_calls_in_doubt_leaves_nothing_behind_and_notes_each() -> None:
    drive = crashed(plan({"each": each("say"), "say": node()}), items(2))
    drive.look()
    drive.cancel("enough")
    assert drive.run.status == "cancelled"
    assert left_behind(drive) == [{}] * 6
    assert drive.run.error is not None
    assert drive.run.error.side_effects == "unknown"
    assert [(one["path"][1], one["error"]["side_effects"]) for one in drive.trace] == [
        ("0", "unknown"),
        ("1", "unknown"),
    ]


def test_cancel_while_a_lost_call_is_about_to_begin_again_knows_that_it_may_have_had_effects() -> None:
    drive = crashed(contracts={"t.echo": IDEMPOTENT})
    drive.cancel(None)
    assert drive.run.error is not None
    assert drive.run.error.side_effects == "unknown"


def test_a_loop_that_gives_up_with_calls_in_doubt_leaves_nothing_behind() -> None:
    steps = {"both": parallel({"l": "each", "r": "two"}), "each": each("say"), "say": node(), "two": node()}
    drive = crashed(plan(steps), items(2))
    drive.look()
    drive.settle("c1", "failed")
    drive.look()
    assert error_of(drive.run) == ("capability_error", "two")
    assert left_behind(drive) == [{}] * 6


def test_a_doubtful_item_that_fails_is_what_its_loop_says_of_failures() -> None:
    document = plan({"each": each("say", on_item_error="skip"), "say": put("state.seen", path("context.x"))})
    document["state_schema"]["properties"] = {"seen": LIST}
    drive = crashed(document, items(2))
    drive.settle("c1", "failed")
    drive.settle("c2", "completed", output={"value": "told"})
    assert drive.go().scopes[0].layer.whole() == {"seen": ["told"]}


def test_a_call_whose_callee_is_gone_is_in_doubt_and_begins_again_only_by_a_persons_word() -> None:
    drive = begin(SAYS, contracts={"t.echo": IDEMPOTENT})
    drive.look()
    drive.put_off("c1")
    drive.look()
    drive.doubt("c1", "the run is not there")
    assert drive.look() == Stopped("interrupted")
    (frame,) = drive.run.frames.values()
    assert isinstance(frame.activity, Pending)
    assert (frame.activity.awaits, frame.activity.reason) == ("in_doubt", "the run is not there")
    drive.crash()
    assert (drive.look(), len(drive.made)) == (Stopped("interrupted"), 1)
    drive.settle("c1", "retry")
    drive.look()
    assert [call.attempt for call in drive.made] == [1, 2]


def test_only_a_call_that_waits_for_its_callee_can_lose_it() -> None:
    for drive in (crashed(), begin(SAYS)):
        drive.look()
        if drive.pending:
            drive.put_off("c1", "isolated", "no runner")
        before = dump_run(drive.run)
        with pytest.raises(WrongAnswerKind):
            drive.doubt("c1", "gone")
        assert dump_run(drive.run) == before
