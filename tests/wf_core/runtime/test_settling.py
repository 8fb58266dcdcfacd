"""Calls that wait for a word from outside: which are put off, what may be said of each, and that its time may come."""

from typing import Any

import pytest

from tests.wf_core.kernel import (
    IDEMPOTENT,
    LIST,
    READ_ONLY,
    WITH_ERROR,
    Driver,
    Json,
    ask,
    begin,
    child,
    each,
    echo,
    error_of,
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
from wf_core.errors import (
    CallAlreadyCompleted,
    CallExpired,
    InvalidResult,
    PersonRequired,
    UnknownCall,
    WrongAnswerKind,
)
from wf_core.runtime import Stopped, Waiting
from wf_core.state import Pending

SAYS = plan({"say": put("state.seen", value("said"))}, {"seen": LIST}, output={"seen": path("state.seen")})
DEFER: Json = {"tag": "defer", "reason": "a worker does it"}
APPROVAL: Json = {"tag": "defer", "reason": "costs money", "approval": True}


def deferring(document: Json = SAYS, given: Any = None, how: Json = DEFER, tool: str = "*", **more: Any) -> Driver:
    """Give a run whose calls of `tool` were put off."""
    drive = begin(document, given, policy={"rules": [{"tool": tool, "disposition": how}]}, **more)
    drive.look()
    return drive


def waiting(drive: Driver, call_id: str = "c1") -> Pending:
    activity = drive.run.frames[drive.run.pending_calls[call_id]].activity
    assert isinstance(activity, Pending)
    return activity


def put_off(**more: Any) -> Driver:
    """Give a run whose first call its callee put off."""
    drive = begin(SAYS, **more)
    drive.look()
    drive.put_off("c1")
    return drive


def test_a_deferred_call_is_not_made_and_stops_the_run() -> None:
    drive = deferring()
    assert (drive.run.status, drive.made) == ("interrupted", [])
    pending = waiting(drive)
    assert (pending.awaits, pending.reason, pending.since) == ("deferred", "a worker does it", drive.now)
    assert (pending.call.capability, pending.call.input, pending.call.attempt) == ("t.echo", {"value": "said"}, 0)


@pytest.mark.parametrize("tool", ["t.echo", "echo", "t.*", "ech?", "*"])
def test_a_rule_matches_the_full_name_the_bare_one_or_a_glob_of_either(tool: str) -> None:
    assert list(deferring(tool=tool).run.pending_calls) == ["c1"]


@pytest.mark.parametrize("tool", ["t", "T.echo", "t.ech", "t.echo.x"])
def test_a_rule_matches_nothing_else(tool: str) -> None:
    assert output_of(deferring(tool=tool).go()) == {"seen": ["said"]}


def test_a_wait_is_not_for_a_policy_to_put_off() -> None:
    steps = {"sleep": node("t.sleep", input={"seconds": value(5)})}
    assert isinstance(deferring(plan(steps)).look(), Waiting)


def test_the_result_of_a_deferred_call_goes_on_as_if_the_call_had_given_it() -> None:
    drive = deferring()
    drive.wait(60)
    drive.settle("c1", "completed", output={"value": "told"}, by="outside")
    assert output_of(drive.go()) == {"seen": ["told"]}
    (entry,) = drive.trace
    assert entry["settled"] == {"by": "outside", "kind": "completed", "at": "2026-11-30T10:01:00.000Z"}
    assert (entry["input"], entry["duration_ms"]) == ({"value": "said"}, 60_000)


def test_a_refused_result_leaves_the_run_byte_for_byte_as_it_was() -> None:
    schema: Json = {"type": "object", "properties": {"value": {"type": "string"}}}
    drive = deferring(contracts={"t.echo": Contract(output_schema=schema)})
    before = dump_run(drive.run)
    for told in ({"output": {"value": 3}}, {"outcome": "other", "output": {"value": "x"}}, {"output": float("nan")}):
        with pytest.raises(InvalidResult):
            drive.settle("c1", "completed", **told)
    assert dump_run(drive.run) == before


def test_a_deferred_call_is_answered_once() -> None:
    drive = deferring()
    drive.settle("c1", "completed", output={"value": "first"}, by="outside")
    with pytest.raises(CallAlreadyCompleted):
        drive.settle("c1", "completed", output={"value": "second"}, by="outside")
    with pytest.raises(UnknownCall):
        drive.settle("c2", "failed")


def test_a_deferred_call_that_failed_fails_its_step_and_may_have_had_effects() -> None:
    drive = deferring()
    drive.settle("c1", "failed", message="no stock", by="outside")
    assert error_of(drive.run) == ("capability_error", "say")
    assert drive.run.error is not None
    assert (drive.run.error.message, drive.run.error.side_effects) == ("no stock", "unknown")


def test_a_deferred_call_that_failed_takes_the_route_error() -> None:
    steps = {"say": node(routes={"ok": "__end__", "error": "note"}), "note": put("state.seen", value("noted"))}
    drive = deferring(plan(steps, {"seen": LIST}), tool="t.echo", contracts={"t.echo": WITH_ERROR})
    drive.settle("c1", "failed", by="outside")
    drive.look()
    drive.settle("c2", "completed", output={"value": "noted"})
    assert drive.go().scopes[0].layer.whole() == {"seen": ["noted"]}


def test_twenty_deferred_items_of_a_loop_wait_at_once_whatever_its_width() -> None:
    steps = {"each": each("say", max_active=1), "say": put("state.seen", path("context.x"))}
    document = plan(steps, {"seen": LIST}, output={"seen": path("state.seen")})
    drive = deferring(document, {"items": list(range(20))}, reloading=True)
    assert list(drive.run.pending_calls) == [f"c{number}" for number in range(1, 21)]
    for number in reversed(range(20)):
        drive.settle(f"c{number + 1}", "completed", output={"value": number})
    assert output_of(drive.go()) == {"seen": list(range(20))}


def test_deferred_calls_wait_in_branches_children_and_beside_questions_while_others_go_on() -> None:
    inner = plan({"say": node()})
    steps = {
        "all": parallel({"a": "asks", "b": "says", "c": "inside", "d": "goes"}),
        "asks": ask(),
        "says": node(),
        "inside": child(inner),
        "goes": node("t.read"),
    }
    drive = deferring(plan(steps), tool="t.echo", fakes={"t.read": echo})
    assert drive.run.status == "running"
    assert [call.capability for call in drive.made] == ["t.read"]
    assert drive.go().status == "interrupted"
    assert [run_path(drive, call_id) for call_id in drive.run.pending_calls] == [
        ("all", "b", "says"),
        ("all", "c", "inside", "say"),
    ]
    first, second = drive.run.pending_calls
    drive.settle(second, "completed", output={})
    drive.answer({})
    assert drive.look() == Stopped("interrupted")
    drive.settle(first, "completed", output={})
    assert drive.go().status == "completed"


def run_path(drive: Driver, call_id: str) -> tuple[str, ...]:
    frame = drive.run.frames[drive.run.pending_calls[call_id]]
    return (*frame.prefix, frame.step_id)


def test_an_approved_call_is_made_then_as_its_first_attempt() -> None:
    drive = deferring(how=APPROVAL)
    assert waiting(drive).awaits == "approval"
    drive.settle("c1", "approved")
    drive.look()
    assert [(call.call_id, call.attempt) for call in drive.made] == [("c1", 1)]
    assert output_of(drive.go()) == {"seen": ["said"]}
    assert drive.trace[0]["settled"]["kind"] == "approved"


def test_an_approval_that_is_refused_had_no_effect() -> None:
    drive = deferring(how=APPROVAL)
    drive.settle("c1", "failed")
    assert error_of(drive.run) == ("capability_error", "say")
    assert drive.run.error is not None
    assert (drive.run.error.message, drive.run.error.side_effects) == ("A person refused the call.", "none")


@pytest.mark.parametrize(("contract", "found"), [(Contract(), ["c1"]), (IDEMPOTENT, [])], ids=["once", "idempotent"])
def test_an_approved_call_whose_process_dies_needs_no_second_approval(contract: Contract, found: list[str]) -> None:
    drive = deferring(how=APPROVAL, contracts={"t.echo": contract})
    drive.settle("c1", "approved")
    drive.look()
    drive.crash()
    assert list(drive.run.pending_calls) == found
    assert not found or waiting(drive).awaits == "in_doubt"
    drive.look()
    assert len(drive.made) == 2 - len(found)


def isolated() -> Driver:
    drive = begin(SAYS)
    drive.look()
    drive.put_off("c1", "isolated", "no runner")
    return drive


def lost() -> Driver:
    drive = begin(SAYS)
    drive.look()
    drive.crash()
    return drive


DECIDED: dict[str, tuple[Any, list[str]]] = {
    "deferred": (deferring, ["completed", "failed"]),
    "approval": (lambda: deferring(how=APPROVAL), ["approved", "failed"]),
    "callee": (put_off, ["completed", "failed", "retry"]),
    "isolated": (isolated, ["completed", "failed", "retry"]),
    "in_doubt": (lost, ["completed", "failed", "retry"]),
}


@pytest.mark.parametrize("awaits", DECIDED)
@pytest.mark.parametrize("kind", ["completed", "failed", "retry", "approved"])
def test_only_what_a_call_waits_for_may_be_said_of_it(awaits: str, kind: Any) -> None:
    make, fitting = DECIDED[awaits]
    drive = make()
    assert waiting(drive).awaits == awaits
    before = dump_run(drive.run)
    if kind in fitting:
        drive.settle("c1", kind, output={"value": "told"})
        assert list(drive.run.pending_calls) == (["c1"] if (awaits, kind) == ("callee", "retry") else [])
        return
    with pytest.raises(WrongAnswerKind):
        drive.settle("c1", kind, output={"value": "told"})
    assert dump_run(drive.run) == before


@pytest.mark.parametrize(
    ("awaits", "refused"), [(name, name in {"approval", "in_doubt", "callee"}) for name in DECIDED]
)
def test_of_approvals_calls_in_doubt_and_callees_only_a_person_says_anything(awaits: str, refused: bool) -> None:
    drive = DECIDED[awaits][0]()
    if not refused:
        drive.settle("c1", "failed", by="outside")
        return
    with pytest.raises(PersonRequired):
        drive.settle("c1", "failed", by="outside")


@pytest.mark.parametrize("awaits", [name for name in DECIDED if name != "callee"])
@pytest.mark.parametrize("kind", ["completed", "failed"])
def test_a_callee_says_nothing_of_a_call_that_does_not_wait_for_it(awaits: str, kind: Any) -> None:
    drive = DECIDED[awaits][0]()
    before = dump_run(drive.run)
    with pytest.raises(WrongAnswerKind):
        drive.settle("c1", kind, output={"value": "told"}, by="callee")
    assert dump_run(drive.run) == before


def test_a_call_that_its_callee_puts_off_waits_with_the_reason() -> None:
    drive = put_off(contracts={"t.echo": IDEMPOTENT})
    assert drive.look() == Stopped("interrupted")
    assert (waiting(drive).reason, waiting(drive).since) == ("busy", drive.now)
    drive.crash()
    assert list(drive.run.pending_calls) == ["c1"]
    drive.settle("c1", "completed", output={"value": "told"}, by="callee")
    assert output_of(drive.go()) == {"seen": ["told"]}
    assert drive.trace[0]["settled"]["by"] == "callee"


def test_a_call_whose_callee_is_to_be_asked_again_does_not_begin_again() -> None:
    drive = put_off(contracts={"t.echo": IDEMPOTENT})
    drive.look()
    drive.settle("c1", "retry")
    assert drive.look() == Stopped("interrupted")
    assert (len(drive.made), waiting(drive).awaits, waiting(drive).reason) == (1, "callee", "busy")


def test_a_call_that_is_not_in_flight_cannot_be_put_off() -> None:
    drive = put_off()
    drive.pending["c1"] = drive.made[0]
    with pytest.raises(UnknownCall):
        drive.put_off("c1")


def test_a_call_that_nobody_could_carry_out_is_tried_again_as_its_first_attempt() -> None:
    drive = isolated()
    drive.look()
    drive.settle("c1", "retry")
    drive.look()
    assert [call.attempt for call in drive.made] == [1, 1]


EXPIRES: Json = {**DEFER, "expiresSeconds": 30}


def test_a_call_that_nobody_answered_in_time_fails_its_step() -> None:
    drive = deferring(how=EXPIRES)
    assert drive.run.status == "interrupted"
    drive.wait(29)
    drive.expire()
    assert drive.run.status == "interrupted"
    drive.wait(1)
    drive.expire()
    assert error_of(drive.run) == ("call_expired", "say")
    assert drive.trace[0]["settled"] == {"by": "time", "kind": "expired", "at": "2026-11-30T10:00:30.000Z"}


def test_what_is_said_too_late_is_refused_and_changes_nothing() -> None:
    drive = deferring(how=EXPIRES)
    drive.wait(30)
    before = dump_run(drive.run)
    with pytest.raises(CallExpired):
        drive.settle("c1", "completed", output={"value": "late"})
    assert dump_run(drive.run) == before


def test_a_run_that_goes_on_beside_it_lets_a_call_expire_by_itself() -> None:
    steps = {"both": parallel({"a": "says", "b": "reads"}), "says": node(), "reads": node("t.read")}
    drive = deferring(plan(steps), how=EXPIRES, tool="t.echo", fakes={"t.read": echo}, reloading=True)
    work = drive.look()
    assert isinstance(work, Waiting)
    assert work.until == waiting(drive).expires_at
    drive.wait(30)
    assert drive.look() == Stopped("failed")
    assert error_of(drive.run) == ("call_expired", "says")


def test_calls_that_expire_at_once_fail_each_its_item() -> None:
    steps = {"each": each("say", on_item_error="skip"), "say": node()}
    drive = deferring(plan(steps), {"items": [1, 2, 3]}, how=EXPIRES, reloading=True)
    drive.settle("c2", "completed", output={})
    drive.wait(31)
    drive.expire()
    assert drive.go().status == "completed"
    assert [entry["error"]["code"] for entry in drive.trace if entry["error"]] == ["call_expired"] * 2


def test_an_answer_in_time_lets_nothing_expire() -> None:
    drive = deferring(how=EXPIRES)
    drive.settle("c1", "completed", output={"value": "told"})
    assert drive.run.expiries == {}
    drive.wait(60)
    drive.expire()
    assert output_of(drive.go()) == {"seen": ["told"]}


def test_a_run_that_is_over_has_nothing_to_expire() -> None:
    drive = deferring(how=EXPIRES)
    drive.cancel("enough")
    drive.wait(60)
    drive.expire()
    assert drive.run.status == "cancelled"
    assert load_run(dump_run(drive.run)).pending_calls == {}


@pytest.mark.parametrize(
    ("how", "contract", "known"),
    [(DEFER, Contract(), "unknown"), (DEFER, READ_ONLY, "none"), (APPROVAL, Contract(), "none")],
    ids=["deferred", "reading", "approval"],
)
def test_a_call_that_waits_when_its_run_is_cancelled_is_noted(how: Json, contract: Contract, known: str) -> None:
    drive = deferring(how=how, contracts={"t.echo": contract})
    drive.cancel("enough")
    assert [entry["error"]["side_effects"] for entry in drive.trace] == [known]


def test_labels_stand_in_the_trace_and_isolation_in_the_call() -> None:
    how: Json = {
        "tag": "decorate",
        "decorators": [{"tag": "withLabel", "text": "risky"}],
        "inner": {"tag": "runIsolated"},
    }
    drive = deferring(how=how)
    (call,) = drive.made
    assert call.policy is not None
    assert call.policy.rule == "*"
    drive.go()
    assert drive.trace[0]["labels"] == ["risky"]


def test_a_policy_that_runs_everything_at_once_leaves_no_trace() -> None:
    drive = deferring(how={"tag": "runAsync"})
    assert drive.made[0].policy is None
    drive.go()
    assert "labels" not in drive.trace[0]
