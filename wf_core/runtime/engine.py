"""The six transitions of a run. Those of calls that wait are in `settling`; one more, after a crash, is in `recovery`.

Each is a function of the program, the state and its arguments alone: it awaits nothing, asks no clock, and given the
same three it leaves the same bytes. The state is updated in place, for a copy would make each append cost the whole
list; whoever advances a run owns its state. A transition that raises has changed nothing.
"""

from datetime import datetime

from wf_core.errors import InvalidInput, NotJson, StepFailed
from wf_core.jsonvalue import JsonValue, check, storable
from wf_core.runtime import flow, interrupts, nodes
from wf_core.runtime.calls import in_flight
from wf_core.runtime.dispatch import visit
from wf_core.runtime.faults import fault
from wf_core.runtime.linking import link
from wf_core.runtime.program import InterruptCode, Program
from wf_core.runtime.settling import expire_due
from wf_core.runtime.subgraphs import open_scope
from wf_core.runtime.tree import Turn, grow
from wf_core.runtime.work import Answer, CallFailure, Invocation, Ready, Stopped, Waiting
from wf_core.state import FINAL, Layer, RunError, RunState, Scope

_FOR_CALLS = Waiting(None)

STEPS_AT_ONCE = 1_000
"""Steps that one `next_work` executes at most before it lets its driver breathe."""


def start(program: Program, *, run_id: str, input: JsonValue) -> RunState:
    """Begin a run before its first step.

    Raises:
        InvalidInput: the input is not JSON or does not fit the plan's input schema; there is no run.
    """
    _check_input(program, input)
    run = RunState(run_id)
    run.linked = program
    try:
        open_scope(run, program, (), input)
    except StepFailed as failed:
        run.scopes[0] = Scope(0, (), input, Layer(dict(program.shape.defaults)))
        run.error = flow.failure_of_plan(failed)
        flow.finish(run, "failed")
        return run
    grow(run, role="root", scope=0, parent=None, step_id=program.plan.start, program=program)
    return run


def next_work(program: Program, run: RunState, *, now: datetime) -> Ready | Waiting | Stopped:
    """Execute whatever needs nobody outside, and say what is needed: calls, a time to wait for, or an answer."""
    link(run, program)
    if run.status != "running":
        return Stopped(run.status)
    turn = Turn(run, now)
    _wake_due(run, now)
    if run.expiries:
        expire_due(turn)
    calls: list[Invocation] = []
    limit = run.steps_executed + STEPS_AT_ONCE
    while run.ready and run.steps_executed < limit:
        frame = run.frames.get(run.ready.popleft())
        if frame is not None:
            invocation = visit(turn, frame, program.plan.limits.max_steps)
            if invocation is not None:
                calls.append(invocation)
    if run.status != "running":
        return Stopped(run.status)
    begun = tuple([invocation for invocation in calls if invocation.call_id in run.calls])
    if run.ready:
        return Ready(begun, None)
    if run.calls or run.delays:
        waiting = _waiting(run)
        return Ready(begun, waiting) if begun else waiting
    if not (run.interrupts or run.pending_calls):
        raise AssertionError("a run that cannot go on waits for somebody")
    run.status = "interrupted"
    return Stopped(run.status)


def complete(program: Program, run: RunState, call_id: str, *, outcome: str, output: JsonValue, now: datetime) -> None:
    """Take the result of a call. A result that does not fit its contract, or the state, fails the step.

    Raises:
        UnknownCall: the call is not in flight.
    """
    frame, code, call = in_flight(program, run, call_id)
    nodes.complete_call(Turn(run, now), frame, code, call, outcome, output)


def fail(
    program: Program, run: RunState, call_id: str, failure: CallFailure, *, now: datetime, jitter: float = 0.0
) -> None:
    """Take the failure of an attempt. `jitter`, from 0 to 1, shortens the wait before the next one by up to half.

    Raises:
        UnknownCall: the call is not in flight.
    """
    frame, code, call = in_flight(program, run, call_id)
    nodes.fail_call(Turn(run, now), frame, code, call, failure, jitter=jitter)


def resume(program: Program, run: RunState, answer: Answer, *, now: datetime) -> None:
    """Take the answer to an open question.

    Raises:
        RunRefused: one of its kinds in `wf_core.errors`; the run is as it was.
    """
    interrupt = interrupts.find_question(run, answer)
    link(run, program)
    frame = run.frames[interrupt.frame]
    code = frame.program.steps[frame.step_id]
    if not isinstance(code, InterruptCode):
        raise AssertionError("a question belongs to an interrupt step")
    run.status = "running"
    interrupts.answer_question(Turn(run, now), frame, code, interrupt, answer)


def cancel(program: Program, run: RunState, *, reason: str | None, now: datetime) -> None:
    """End the run. Its driver cancels the calls that were in flight. A run that is over stays as it is."""
    if run.status in FINAL:
        return
    link(run, program)
    message = storable(reason) if reason else "The run was cancelled."
    effects = nodes.note_cancelled(Turn(run, now), run.frames.values(), message)
    run.error = RunError("cancelled", message, None, (), 1, effects)
    flow.finish(run, "cancelled")


def _check_input(program: Program, input: JsonValue) -> None:
    try:
        check(input, "input")
    except NotJson as bad:
        raise InvalidInput(
            f"The workflow input is not JSON. {bad.message}", hint=bad.hint, details=bad.details
        ) from bad
    found = fault(program.input_check, input, "input")
    if found is not None:
        raise InvalidInput(
            f"The workflow input does not fit the plan: {found.text}",
            hint="Correct workflow_input; no run was created.",
            details={"problems": found.problems},
        )


def _waiting(run: RunState) -> Waiting:
    if not run.delays and not run.expiries:
        return _FOR_CALLS
    return Waiting(min((*run.delays.values(), *run.expiries.values())))


def _wake_due(run: RunState, now: datetime) -> None:
    if not run.delays:
        return
    due = sorted((due_at, number) for number, due_at in run.delays.items() if due_at <= now)
    for _, number in due:
        del run.delays[number]
        run.ready.append(number)
