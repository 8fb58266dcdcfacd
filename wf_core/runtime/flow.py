"""Where a frame goes when its step has ended: to the next step, to the end of its item, child or run, or into failure.

What a loop or a parent makes of an ended frame is decided when it has its turn again; here it is only noted.
"""

from typing import Any

from wf_core.errors import StepFailed
from wf_core.jsonvalue import JsonValue
from wf_core.plan import BREAK, END
from wf_core.runtime.outputs import workflow_output
from wf_core.runtime.traces import note
from wf_core.runtime.tree import Turn, admit, nudge, prune, wake
from wf_core.state import (
    Asking,
    ChildEnd,
    Frame,
    InChild,
    Looping,
    Pending,
    RunError,
    RunState,
    RunStatus,
    Settled,
    SideEffects,
)


def advance(
    turn: Turn,
    frame: Frame,
    outcome: str,
    *,
    input: JsonValue = None,
    output: JsonValue = None,
    state_changes: Any = None,
    answer: dict[str, JsonValue] | None = None,
    settled: Settled | None = None,
) -> None:
    """End a frame's step with an outcome, and send the frame along the route of that outcome."""
    run = turn.run
    target: str = frame.program.plan.steps[frame.step_id].routes[outcome]
    note(
        run,
        frame,
        now=turn.now,
        outcome=outcome,
        next_step_id=target,
        input=input,
        output=output,
        state_changes=state_changes or {},
        answer=answer,
        settled=settled,
    )
    waited = isinstance(frame.activity, (Asking, Pending))
    frame.activity = None
    if target in (END, BREAK):
        if target == BREAK:
            _loop_around(run, frame).broken = True
        end(turn, frame, "ok")
        return
    frame.step_id = target
    frame.started_at = None
    if waited:
        admit(run, frame)
    else:
        wake(run, frame)


def end(turn: Turn, frame: Frame, outcome: str) -> None:
    """End a frame: its item, its child workflow, or the run."""
    run = turn.run
    match frame.role:
        case "item":
            _end_item(run, frame)
        case "child":
            _end_child(turn, frame, outcome)
        case "root":
            try:
                output = workflow_output(run, frame)
            except StepFailed as failed:
                fail(turn, frame, failure_of_plan(failed))
                return
            run.outcome, run.output = outcome, output
            finish(run, "completed")


def fail_step(
    turn: Turn,
    frame: Frame,
    failed: StepFailed,
    *,
    side_effects: SideEffects = "none",
    input: JsonValue = None,
    output: JsonValue = None,
    settled: Settled | None = None,
) -> None:
    """End a frame's step in failure."""
    error = RunError(
        code=failed.code,
        message=failed.message,
        step_id=frame.step_id,
        path=(*frame.prefix, frame.step_id),
        attempt=frame.attempt,
        side_effects=side_effects,
        details=failed.details,
    )
    pass_on(turn, frame, error, input=input, output=output, settled=settled)


def pass_on(
    turn: Turn,
    frame: Frame,
    error: RunError,
    *,
    input: JsonValue = None,
    output: JsonValue = None,
    settled: Settled | None = None,
) -> None:
    """End a frame's step because of an error, its own or that of a frame below it."""
    note(turn.run, frame, now=turn.now, error=error, input=input, output=output, settled=settled)
    fail(turn, frame, error)


def fail(turn: Turn, frame: Frame, error: RunError) -> None:
    """Hand a frame's failure to whoever waits for the frame."""
    run = turn.run
    if frame.parent is None:
        run.error = error
        finish(run, "failed")
        return
    outer = run.frames[frame.parent]
    match outer.activity:
        case Looping() as loop if frame.index is not None:
            loop.failures[frame.index] = error
            del loop.active[frame.index]
        case InChild() as child:
            child.ended = ChildEnd(None, None, error)
        case _:
            raise AssertionError("a frame's parent waits for it")
    nudge(run, outer)
    prune(run, frame)


def finish(run: RunState, status: RunStatus) -> None:
    """End the run. Nothing is left that could go on; the root's input and state stay readable."""
    run.status = status
    run.frames.clear()
    run.lineages.clear()
    run.ready.clear()
    run.calls.clear()
    run.interrupts.clear()
    run.delays.clear()
    run.expiries.clear()
    run.scopes = {number: scope for number, scope in run.scopes.items() if number == 0}


def failure_of_plan(failed: StepFailed, step_id: str | None = None, path: tuple[str, ...] = ()) -> RunError:
    """Describe a failure of a plan itself: of the run's, or of the one that a step runs."""
    return RunError(failed.code, failed.message, step_id, path, 1, "none", failed.details)


def _end_item(run: RunState, frame: Frame) -> None:
    loop = _loop_around(run, frame)
    index = frame.index
    if index is None:
        raise AssertionError("an item has an index")
    del loop.active[index]
    if frame.lineage == frame.id:
        loop.writes[index] = run.lineages[frame.id].layer.log or []
    nudge(run, _outer(run, frame))
    prune(run, frame)


def _end_child(turn: Turn, frame: Frame, outcome: str) -> None:
    run = turn.run
    outer = _outer(run, frame)
    child = outer.activity
    if not isinstance(child, InChild):
        raise AssertionError("the parent of a child workflow waits for it")
    try:
        child.ended = ChildEnd(outcome, workflow_output(run, frame), None)
    except StepFailed as failed:
        child.ended = ChildEnd(None, None, failure_of_plan(failed, outer.step_id, frame.prefix))
    nudge(run, outer)
    prune(run, frame)


def _loop_around(run: RunState, frame: Frame) -> Looping:
    loop = _outer(run, frame).activity
    if not isinstance(loop, Looping):
        raise AssertionError("the parent of an item is a loop")
    return loop


def _outer(run: RunState, frame: Frame) -> Frame:
    """Give the frame whose step waits for this one."""
    if frame.parent is None:
        raise AssertionError("nobody waits for the root")
    return run.frames[frame.parent]
