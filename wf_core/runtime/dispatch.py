"""One frame's turn: begin the step it has reached, or go on with the one it is in."""

from typing import Any

from wf_core.errors import StepFailed
from wf_core.runtime import flow
from wf_core.runtime.foreach import visit_foreach
from wf_core.runtime.interrupts import visit_interrupt
from wf_core.runtime.loops import visit_loop
from wf_core.runtime.nodes import visit_due, visit_node
from wf_core.runtime.parallel import visit_parallel
from wf_core.runtime.program import (
    ConditionCode,
    EndCode,
    ForeachCode,
    InterruptCode,
    JoinCode,
    NodeCode,
    ParallelCode,
    SubgraphCode,
)
from wf_core.runtime.subgraphs import visit_ended_child, visit_subgraph
from wf_core.runtime.traces import note
from wf_core.runtime.tree import Turn
from wf_core.runtime.views import view_of
from wf_core.runtime.work import Invocation
from wf_core.state import Delayed, Frame, InChild, Looping


def visit(turn: Turn, frame: Frame, max_steps: int) -> Invocation | None:
    """Give a frame its turn; the answer is the call that it wants made, if any."""
    try:
        if frame.activity is None:
            return _begin(turn, frame, max_steps)
        return _go_on(turn, frame)
    except StepFailed as failed:
        flow.fail_step(turn, frame, failed)
        return None


def _begin(turn: Turn, frame: Frame, max_steps: int) -> Invocation | None:
    run = turn.run
    frame.started_at = turn.now
    frame.attempt = 1
    if run.steps_executed >= max_steps:
        raise StepFailed(
            "step_limit_exceeded",
            f"The run has executed {max_steps} steps, which is its limit; limits.max_steps of the plan raises it.",
            details={"max_steps": max_steps},
        )
    run.steps_executed += 1
    code: Any = frame.program.steps[frame.step_id]
    match code:
        case NodeCode():
            return visit_node(turn, frame, code)
        case ConditionCode():
            outcome = "true" if code.ask(view_of(run, frame)) else "false"
            flow.advance(turn, frame, outcome)
        case JoinCode():
            flow.advance(turn, frame, "ok")
        case EndCode():
            note(run, frame, now=turn.now, outcome=code.step.outcome)
            flow.end(turn, frame, code.step.outcome)
        case InterruptCode():
            visit_interrupt(turn, frame, code)
        case ForeachCode():
            visit_foreach(turn, frame, code)
        case ParallelCode():
            visit_parallel(turn, frame, code)
        case SubgraphCode():
            visit_subgraph(turn, frame, code)
        case _:
            raise AssertionError(f"no such step: {code!r}")
    return None


def _go_on(turn: Turn, frame: Frame) -> Invocation | None:
    code: Any = frame.program.steps[frame.step_id]
    match frame.activity, code:
        case Delayed(call=call), NodeCode():
            return visit_due(turn, frame, code, call)
        case Looping() as loop, ForeachCode() | ParallelCode():
            visit_loop(turn, frame, code, loop)
        case InChild() as child, SubgraphCode():
            visit_ended_child(turn, frame, code, child)
        case activity, _:
            raise AssertionError(f"a frame that does {activity!r} has no turn")
    return None
