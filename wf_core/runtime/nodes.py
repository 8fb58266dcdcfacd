"""Node steps: building a call, and what its result or failure means to the run."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from wf_core.calls.contract import CAPABILITY_ERROR, ERROR_OUTCOME
from wf_core.calls.policy import Defer
from wf_core.calls.retry import delay, may_retry, side_effects
from wf_core.errors import NotJson, StepFailed
from wf_core.jsonvalue import JsonValue, check, dumps
from wf_core.runtime.faults import storable_failure
from wf_core.runtime.flow import advance, fail_step
from wf_core.runtime.outputs import map_result, require
from wf_core.runtime.patches import apply_writes
from wf_core.runtime.program import NodeCode
from wf_core.runtime.traces import note
from wf_core.runtime.tree import Turn, suspend
from wf_core.runtime.views import view_of
from wf_core.runtime.work import CallFailure, Invocation
from wf_core.state import Awaited, Call, Calling, Delayed, Frame, Pending, RunError, SideEffects


def visit_node(turn: Turn, frame: Frame, code: NodeCode) -> Invocation | None:
    """Begin the call of a node, or wait where the capability is a wait.

    Raises:
        StepFailed: nothing was called.
    """
    run = turn.run
    arguments = code.build_input(view_of(run, frame))
    require("input_invalid", f"The input of {code.capability}", code.input_check, arguments, "input")
    if not isinstance(arguments, dict):
        raise StepFailed("input_invalid", f"The input of {code.capability} is no object.")
    call = Call(f"c{run.counters.call}", frame.id, code.capability, arguments, frame.attempt, turn.now)
    run.counters.call += 1
    if code.contract.deferred:
        _sleep(turn, frame, call)
        return None
    if code.put_off is not None:
        _put_off(turn, frame, call, code.put_off)
        return None
    return begin(turn, frame, code, call)


def begin(turn: Turn, frame: Frame, code: NodeCode, call: Call) -> Invocation:
    """Begin an attempt of a call."""
    turn.run.calls[call.id] = call
    frame.activity = Calling(call.id)
    return Invocation(
        call_id=call.id,
        capability=call.capability,
        step_id=frame.step_id,
        path=(*frame.prefix, frame.step_id),
        input=call.input,
        attempt=call.attempt,
        timeout_seconds=code.step.timeout_seconds,
        repeatable=code.contract.hints.repeatable,
        policy=code.policy,
    )


def visit_due(turn: Turn, frame: Frame, code: NodeCode, call: Call) -> Invocation | None:
    """Go on with a frame whose time has come: the next attempt, or the end of a sleep."""
    if code.contract.deferred:
        _succeed(turn, frame, code, call, "ok", {"value": call.input["seconds"]})
        return None
    frame.attempt = call.attempt = call.attempt + 1
    call.started_at = turn.now
    return begin(turn, frame, code, call)


def complete_call(turn: Turn, frame: Frame, code: NodeCode, call: Call, outcome: str, output: JsonValue) -> None:
    """Take the result of a call."""
    turn.run.calls.pop(call.id, None)
    known = known_effects(code, call, executed=True)
    try:
        judge(code, outcome, output)
        _succeed(turn, frame, code, call, outcome, output)
    except NotJson as bad:
        failed = StepFailed(
            "output_invalid", f"The result of {code.capability} is not JSON. {bad}", details=bad.details
        )
        fail_step(turn, frame, failed, side_effects=known, input=call.input, settled=call.settled)
    except StepFailed as failed:
        fail_step(turn, frame, failed, side_effects=known, input=call.input, output=output, settled=call.settled)


def fail_call(turn: Turn, frame: Frame, code: NodeCode, call: Call, failure: CallFailure, *, jitter: float) -> None:
    """Take the failure of an attempt: another attempt later, the route `error`, or the failure of the step."""
    turn.run.calls.pop(call.id, None)
    retry = code.step.retry
    if retry is not None and may_retry(retry, code.contract.hints, attempt=call.attempt, executed=failure.executed):
        call.side_effects = known_effects(code, call, executed=failure.executed)
        due_at = turn.now + delay(retry, attempt=call.attempt, jitter=jitter)
        frame.activity = Delayed(due_at, call)
        turn.run.delays[frame.id] = due_at
    else:
        give_up(turn, frame, code, call, failure)


def give_up(turn: Turn, frame: Frame, code: NodeCode, call: Call, failure: CallFailure) -> None:
    """End a step whose call failed for good: by the route `error`, or in failure."""
    failure = storable_failure(failure)
    known = known_effects(code, call, executed=failure.executed)
    if (
        failure.code == CAPABILITY_ERROR
        and ERROR_OUTCOME in code.contract.outcomes
        and ERROR_OUTCOME in code.step.routes
    ):
        try:
            _succeed(turn, frame, code, call, ERROR_OUTCOME, {"message": failure.message})
            return
        except StepFailed as failed:
            error = failed
    else:
        error = StepFailed(failure.code, failure.message, details=failure.details)
    fail_step(turn, frame, error, side_effects=known, input=call.input, settled=call.settled)


def note_cancelled(turn: Turn, frames: Iterable[Frame], message: str) -> SideEffects:
    """Note the calls among these frames that end unfinished, and say what is known of the effects of all together."""
    together: SideEffects = "none"
    for frame in frames:
        code: Any = frame.program.steps[frame.step_id]
        match frame.activity:
            case Calling(call=call_id):
                call, executed = turn.run.calls[call_id], True
            case Pending(call=call, awaits=awaits):
                executed = may_have_executed(awaits)
            case Delayed(call=call):
                executed = False
            case _:
                continue
        known = known_effects(code, call, executed=executed)
        if known == "unknown":
            together = known
        error = RunError("cancelled", message, frame.step_id, (*frame.prefix, frame.step_id), frame.attempt, known)
        note(turn.run, frame, now=turn.now, input=call.input, error=error, settled=call.settled)
    return together


def may_have_executed(awaits: Awaited) -> bool:
    """Tell whether a call that waits may have been carried out: whoever has its token may have done it."""
    return awaits != "approval"


def known_effects(code: NodeCode, call: Call, *, executed: bool) -> SideEffects:
    """Say what is known of a call's effects, its earlier attempts included."""
    return "unknown" if call.side_effects == "unknown" else side_effects(code.contract.hints, executed=executed)


def _put_off(turn: Turn, frame: Frame, call: Call, how: Defer) -> None:
    """Leave a call to the outside before anything was called."""
    call.attempt = 0
    try:
        expires_at = None if how.expires_seconds is None else turn.now + timedelta(seconds=how.expires_seconds)
    except OverflowError:
        expires_at = None  # beyond the calendar is never
    awaits: Awaited = "approval" if how.approval else "deferred"
    suspend(turn.run, frame, Pending(call, awaits, how.reason, turn.now, expires_at))


def _sleep(turn: Turn, frame: Frame, call: Call) -> None:
    seconds = call.input["seconds"]
    if not isinstance(seconds, (int, float)):
        raise AssertionError("the contract of a wait takes seconds")
    try:
        due_at = turn.now + timedelta(seconds=seconds)
    except OverflowError as exc:
        raise StepFailed("input_invalid", f"{seconds} seconds from now is beyond the calendar.") from exc
    frame.activity = Delayed(due_at, call)
    turn.run.delays[frame.id] = due_at


def judge(code: NodeCode, outcome: str, output: JsonValue) -> None:
    """Refuse a result that the contract does not allow.

    Raises:
        StepFailed, NotJson
    """
    check(output, "output")
    if outcome not in code.contract.outcomes:
        declared = ", ".join(code.contract.outcomes)
        raise StepFailed("output_invalid", f"{code.capability} answered {outcome!r}; it declares {declared}.")
    if outcome != ERROR_OUTCOME:
        require("output_invalid", f"The result of {code.capability}", code.output_check, output, "output")


def _succeed(turn: Turn, frame: Frame, code: NodeCode, call: Call, outcome: str, output: JsonValue) -> None:
    """Commit what a result writes and go on.

    Raises:
        StepFailed: nothing was written.
    """
    if outcome == ERROR_OUTCOME and ERROR_OUTCOME not in code.step.routes:
        raise StepFailed(CAPABILITY_ERROR, _message(output), details={"output": output})
    entries = code.error_output if outcome == ERROR_OUTCOME else code.output
    changes = apply_writes(frame.program.shape, frame.layer, map_result(entries, output)) if entries else None
    advance(turn, frame, outcome, input=call.input, output=output, state_changes=changes, settled=call.settled)


def _message(output: JsonValue) -> str:
    """Say what a capability said when it answered `error`."""
    if isinstance(output, dict) and isinstance(output.get("message"), str):
        return str(output["message"])
    return dumps(output).decode()
