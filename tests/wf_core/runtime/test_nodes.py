"""Calls: what is asked, what a result or a failure means, when an attempt is repeated, and what is known of effects."""

from datetime import timedelta
from typing import Any

import pytest

from tests.wf_core.kernel import (
    IDEMPOTENT,
    NOW,
    READ_ONLY,
    WITH_ERROR,
    Driver,
    Failed,
    Reply,
    begin,
    each,
    error_of,
    finish,
    node,
    path,
    plan,
    value,
)
from wf_core.calls.contract import Contract, Hints
from wf_core.codec import dump_run
from wf_core.runtime import CallFailure, Waiting, fail

Raw = dict[str, Any]

NUMBER = Contract(
    input_schema={"type": "object", "properties": {"value": {"type": "integer"}}, "required": ["value"]},
    output_schema={"type": "object", "properties": {"value": {"type": "integer"}}, "required": ["value"]},
)


def one(**more: Any) -> Raw:
    step = node("t.it", input={"value": path("input.value")}, output={"state.got": "value"}, **more)
    steps = {"call": step, "bad": {"type": "end", "outcome": "bad"}}
    return plan(steps, {"got": {}}, outcomes=["ok", "bad"], output={"got": {"path": "state.got", "default": None}})


def calling(result: Any, contract: Contract | None = None, given: Any = 1, **more: Any) -> Driver:
    """Start a run of one call, which gives `result`, or fails with it."""

    def it(_: Raw) -> Any:
        if isinstance(result, Failed):
            raise result
        return result

    contracts = {"t.it": contract or Contract()}
    return begin(one(**more), {"value": given}, fakes={"t.it": it}, contracts=contracts)


def effects(drive: Driver) -> str | None:
    return None if drive.run.error is None else drive.run.error.side_effects


def test_a_call_says_whom_to_ask_what_where_and_for_how_long() -> None:
    drive = calling({"value": 2}, timeout_seconds=5)
    drive.look()
    (call,) = drive.made
    assert (call.call_id, call.capability, call.step_id, call.path) == ("c1", "t.it", "call", ("call",))
    assert (call.input, call.attempt, call.timeout_seconds) == ({"value": 1}, 1, 5.0)


def test_a_capability_may_be_named_by_source_and_name() -> None:
    drive = begin(plan({"call": node({"source": "t", "capability": "echo"})}))
    drive.go()
    assert drive.made[0].capability == "t.echo"


def test_the_result_is_written_and_the_outcome_routed() -> None:
    assert calling({"value": 2}).go().output == {"got": 2}


def test_an_input_that_does_not_fit_is_input_invalid_and_nothing_is_called() -> None:
    drive = calling({"value": 2}, NUMBER, given="text")
    assert error_of(drive.go()) == ("input_invalid", "call")
    assert (drive.made, effects(drive)) == ([], "none")


def test_an_input_that_is_no_object_is_input_invalid() -> None:
    run = finish(plan({"call": node(input={".": value([1])})}))
    assert error_of(run) == ("input_invalid", "call")


def test_the_target_dot_is_the_whole_input() -> None:
    drive = begin(plan({"call": node(input={".": path("input")})}), {"a": 1})
    drive.go()
    assert drive.inputs == [{"a": 1}]


@pytest.mark.parametrize(
    "result", [{"value": "text"}, {}, None, Reply("other", {"value": 1}), {"value": float("nan")}, {"value": {1, 2}}]
)
def test_a_result_that_the_contract_does_not_allow_is_output_invalid(result: Any) -> None:
    drive = calling(result, NUMBER)
    assert error_of(drive.go()) == ("output_invalid", "call")
    assert (effects(drive), drive.run.scopes[0].layer.whole()) == ("unknown", {})


@pytest.mark.parametrize(
    "bad", [float("inf"), "\ud800", {1: 2}, (1,), b"x", {"a": {"b": [1, {"c": timedelta(1)}]}}], ids=repr
)
def test_a_result_that_is_no_json_is_output_invalid_naming_the_place(bad: Any) -> None:
    drive = calling({"value": bad})
    drive.go()
    assert drive.run.error is not None
    assert drive.run.error.code == "output_invalid"
    assert "output.value" in drive.run.error.message
    dump_run(drive.run)


def test_a_result_without_what_output_maps_is_path_not_found() -> None:
    assert error_of(calling({}).go()) == ("path_not_found", "call")


def test_integers_of_any_size_and_floats_survive_exactly() -> None:
    drive = begin(one(), {"value": [10**30, 2**64, -(2**63) - 1, 1.0, -0.0]}, fakes={"t.it": lambda given: given})
    drive.reloading = True
    assert repr(drive.go().output) == repr({"got": [10**30, 2**64, -(2**63) - 1, 1.0, -0.0]})


# The outcome `error`


def test_an_unrouted_error_outcome_fails_with_the_capabilitys_message() -> None:
    drive = calling(Reply("error", {"message": "no such file"}), WITH_ERROR)
    assert error_of(drive.go()) == ("capability_error", "call")
    assert drive.run.error is not None
    assert drive.run.error.message == "no such file"
    assert drive.run.error.details == {"output": {"message": "no such file"}}


@pytest.mark.parametrize(
    ("given", "message"),
    [({"reason": 7}, '{"reason":7}'), ({"message": 7}, '{"message":7}'), ("why", '"why"'), (None, "null")],
)
def test_an_unrouted_error_outcome_without_a_message_shows_what_it_gave(given: Any, message: str) -> None:
    drive = calling(Reply("error", given), WITH_ERROR)
    drive.go()
    assert drive.run.error is not None
    assert drive.run.error.message == message


ROUTED: Raw = {"routes": {"ok": "__end__", "error": "bad"}}


def test_a_routed_error_outcome_applies_error_output_instead_of_output() -> None:
    drive = calling(Reply("error", {"message": "gone"}), WITH_ERROR, **ROUTED, error_output={"state.got": "message"})
    run = drive.go()
    assert (run.outcome, run.output) == ("bad", {"got": "gone"})


def test_a_routed_error_outcome_without_error_output_writes_nothing() -> None:
    assert calling(Reply("error", {"value": 3}), WITH_ERROR, **ROUTED).go().output == {"got": None}


def test_the_output_schema_is_not_asked_of_an_error() -> None:
    contract = Contract(output_schema=NUMBER.output_schema, outcomes=("ok", "error"))
    assert calling(Reply("error", {"message": "gone"}), contract, **ROUTED).go().outcome == "bad"


def test_a_returned_error_is_an_answer_and_not_retried() -> None:
    drive = calling(Reply("error", {"message": "no"}), WITH_ERROR, **ROUTED, retry={"on": "any"})
    assert drive.go().outcome == "bad"
    assert len(drive.made) == 1


def test_an_exception_takes_the_error_route_only_if_the_capability_declares_error() -> None:
    routed = calling(Failed(message="boom"), WITH_ERROR, **ROUTED, error_output={"state.got": "."})
    assert routed.go().output == {"got": {"message": "boom"}}
    assert error_of(calling(Failed(), Contract(), **ROUTED).go()) == ("capability_error", "call")
    assert error_of(calling(Failed(), WITH_ERROR).go()) == ("capability_error", "call")


def test_only_the_capabilitys_own_failure_takes_the_error_route() -> None:
    assert error_of(calling(Failed("timeout"), WITH_ERROR, **ROUTED).go()) == ("timeout", "call")


def test_an_exception_in_a_capability_that_declares_error_is_retried_first() -> None:
    drive = calling(Failed(), WITH_ERROR, **ROUTED, retry={"max_attempts": 2, "on": "any"})
    assert drive.go().outcome == "bad"
    assert [call.attempt for call in drive.made] == [1, 2]


def test_what_error_output_cannot_map_fails_the_step() -> None:
    drive = calling(Failed(), WITH_ERROR, **ROUTED, error_output={"state.got": "reason"})
    assert error_of(drive.go()) == ("path_not_found", "call")


# Retry


def attempts(failures: int, contract: Contract, *, executed: bool = True, **retry: Any) -> Driver:
    """Run a call whose first `failures` attempts fail."""
    left = [failures]

    def flaky(given: Raw) -> Any:
        left[0] -= 1
        if left[0] >= 0:
            raise Failed("unreachable", executed=executed)
        return given

    drive = begin(one(retry=retry), {"value": 1}, fakes={"t.it": flaky}, contracts={"t.it": contract}, reloading=True)
    drive.go()
    return drive


NOT_REPEATABLE = Contract()


@pytest.mark.parametrize(
    ("contract", "executed", "on", "repeated"),
    [
        (NOT_REPEATABLE, True, "not_executed", False),
        (NOT_REPEATABLE, False, "not_executed", True),
        (READ_ONLY, True, "not_executed", True),
        (IDEMPOTENT, True, "not_executed", True),
        (NOT_REPEATABLE, True, "any", True),
    ],
)
def test_a_failure_is_retried_only_if_it_did_not_execute_or_repeating_is_safe_or_declared_so(
    contract: Contract, executed: bool, on: str, repeated: bool
) -> None:
    drive = attempts(1, contract, executed=executed, on=on)
    assert (drive.run.status, len(drive.made)) == (("completed", 2) if repeated else ("failed", 1))


def test_a_call_without_retry_is_made_once() -> None:
    drive = calling(Failed(executed=False))
    drive.go()
    assert len(drive.made) == 1


def test_max_attempts_counts_the_first_one_too_and_is_3_by_default() -> None:
    assert len(attempts(9, READ_ONLY).made) == 3
    assert len(attempts(9, READ_ONLY, max_attempts=1).made) == 1


def test_every_attempt_is_the_same_call_and_attempts_count_from_1() -> None:
    drive = attempts(2, READ_ONLY)
    assert [(call.call_id, call.attempt, call.input) for call in drive.made] == [
        ("c1", 1, {"value": 1}),
        ("c1", 2, {"value": 1}),
        ("c1", 3, {"value": 1}),
    ]
    assert drive.trace[-1]["attempt"] == 3


def test_delays_are_due_times_that_grow_and_are_capped() -> None:
    drive = begin(
        one(retry={"max_attempts": 5, "initial_delay_seconds": 10, "backoff": 3, "max_delay_seconds": 50}),
        {"value": 1},
        fakes={"t.it": lambda _: (_ for _ in ()).throw(Failed(executed=False))},
        contracts={"t.it": Contract()},
        reloading=True,
    )
    waits: list[float] = []
    for _ in range(4):
        drive.look()
        drive.deliver()
        work = drive.look()
        assert isinstance(work, Waiting)
        assert work.until is not None
        waits.append((work.until - drive.now).total_seconds())
        drive.now = work.until
    assert waits == [10, 30, 50, 50]


def test_nothing_happens_before_an_attempt_is_due() -> None:
    drive = calling(Failed(executed=False), retry={"initial_delay_seconds": 10})
    drive.look()
    drive.deliver()
    drive.wait(9.9)
    assert drive.look() == Waiting(NOW + timedelta(seconds=10))
    drive.wait(0.1)
    drive.look()
    assert drive.made[-1].attempt == 2
    assert drive.run.calls["c1"].started_at == NOW + timedelta(seconds=10)


def test_jitter_takes_up_to_half_of_the_delay_off() -> None:
    drive = calling(Failed(executed=False), retry={"initial_delay_seconds": 10})
    drive.look()
    failure = CallFailure("unreachable", "gone", executed=False)
    fail(drive.program, drive.run, "c1", failure, now=NOW, jitter=1.0)
    assert drive.look() == Waiting(NOW + timedelta(seconds=5))


def test_a_retry_is_not_a_step() -> None:
    assert attempts(2, READ_ONLY).run.steps_executed == 1


def test_items_of_a_concurrent_loop_retry_by_themselves() -> None:
    tried: list[str] = []

    def flaky(given: Raw) -> Any:
        tried.append(given["value"])
        if tried.count(given["value"]) == 1 and given["value"] != "b":
            raise Failed(executed=False)
        return given

    steps = {"each": each("call"), "call": node("t.it", input={"value": path("context.x")}, retry={})}
    drive = begin(plan(steps), {"items": ["a", "b", "c"]}, fakes={"t.it": flaky}, reloading=True)
    assert drive.go().status == "completed"
    assert tried == ["a", "b", "c", "a", "c"]


# What is known of the effects


@pytest.mark.parametrize(
    ("contract", "executed", "known"),
    [
        (NOT_REPEATABLE, True, "unknown"),
        (NOT_REPEATABLE, False, "none"),
        (IDEMPOTENT, True, "unknown"),
        (READ_ONLY, True, "none"),
    ],
)
def test_every_error_says_whether_there_may_be_side_effects(contract: Contract, executed: bool, known: str) -> None:
    drive = calling(Failed("timeout", executed=executed), contract)
    drive.go()
    assert effects(drive) == known


def test_effects_of_an_earlier_attempt_are_not_forgotten_when_the_last_one_did_not_execute() -> None:
    outcomes = [Failed("timeout"), Failed("unreachable", executed=False)]

    def worse(_: Raw) -> Any:
        raise outcomes.pop(0)

    document = one(retry={"max_attempts": 2, "on": "any"})
    drive = begin(document, {"value": 1}, fakes={"t.it": worse}, reloading=True)
    assert error_of(drive.go()) == ("unreachable", "call")
    assert effects(drive) == "unknown"


def test_the_failure_of_a_read_only_call_has_no_side_effects_also_after_a_bad_result() -> None:
    contract = Contract(output_schema=NUMBER.output_schema, hints=Hints(read_only=True))
    drive = calling({"value": "text"}, contract)
    drive.go()
    assert effects(drive) == "none"


def test_a_failure_is_taken_whatever_it_brings() -> None:
    """Names of files, say, may hold what is no text; losing the failure over it would leave the run hanging."""
    drive = calling(1)
    drive.look()
    details: Any = {"when": {1, 2}}
    failure = CallFailure("odd\ud800", "no file caf\udce9", details=details)
    fail(drive.program, drive.run, "c1", failure, now=NOW)
    assert drive.run.error is not None
    assert (drive.run.error.code, drive.run.error.message) == ("odd?", "no file caf?")
    assert list(drive.run.error.details) == ["refused"]
    dump_run(drive.run)


# Waiting


def sleeping(seconds: Any, **more: Any) -> Driver:
    step = node("t.sleep", input={"seconds": value(seconds)}, output={"state.got": "value"})
    return begin(plan({"nap": step}, {"got": {}}, output={"got": path("state.got")}), reloading=True)


@pytest.mark.parametrize("seconds", [0, 0.5, 90, 10**6])
def test_a_sleep_waits_for_its_time_and_calls_nobody(seconds: float) -> None:
    drive = sleeping(seconds)
    assert drive.look() == Waiting(NOW + timedelta(seconds=seconds))
    drive.wait(seconds)
    assert drive.go().output == {"got": seconds}
    assert drive.made == []


@pytest.mark.parametrize("seconds", [1e15, 10**400, 1e300])
def test_a_sleep_beyond_the_calendar_is_input_invalid(seconds: float) -> None:
    assert error_of(sleeping(seconds).go()) == ("input_invalid", "nap")


def test_a_sleep_of_something_else_is_input_invalid() -> None:
    assert error_of(sleeping("long").go()) == ("input_invalid", "nap")


def test_sleeps_of_items_end_by_their_times_whatever_their_order() -> None:
    steps = {
        "each": each("nap"),
        "nap": node("t.sleep", input={"seconds": path("context.x")}, to="note"),
        "note": node(input={"value": path("context.x")}),
    }
    drive = begin(plan(steps), {"items": [30, 10, 20]}, reloading=True)
    drive.go()
    assert [call["value"] for call in drive.inputs] == [10, 20, 30]
