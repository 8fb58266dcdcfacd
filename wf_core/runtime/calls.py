"""Finding a call of a run, wherever the run keeps it."""

import re

from wf_core.errors import CallAlreadyCompleted, UnknownCall
from wf_core.runtime.linking import link
from wf_core.runtime.program import NodeCode, Program
from wf_core.state import Call, Calling, Frame, Pending, RunState

_CALL_ID = re.compile(r"c([1-9][0-9]{0,17})")


def in_flight(program: Program, run: RunState, call_id: str) -> tuple[Frame, NodeCode, Call]:
    """Give a call in flight, its frame and its step.

    Raises:
        UnknownCall: the call is not in flight.
    """
    call = run.calls.get(call_id)
    if call is None:
        raise UnknownCall(f"The run {run.run_id} has no call {call_id} in flight.", details={"call_id": call_id})
    link(run, program)
    frame = run.frames[call.frame]
    if not isinstance(frame.activity, Calling):
        raise AssertionError("a call in flight is that of a frame that waits for it")
    return frame, _node(frame), call


def pending(run: RunState, call_id: str) -> tuple[Frame, NodeCode, Pending]:
    """Give what a call waits for, its frame and its step. The run is linked.

    Raises:
        CallAlreadyCompleted: the call does not wait, or no longer.
        UnknownCall: there never was such a call.
    """
    number = run.pending_calls.get(call_id)
    if number is None:
        made = _CALL_ID.fullmatch(call_id)
        if made is not None and int(made[1]) < run.counters.call:
            text = f"The call {call_id} of the run {run.run_id} waits for nobody: it has ended, or it is under way."
            raise CallAlreadyCompleted(text, hint="What was told first stays.", details={"call_id": call_id})
        raise UnknownCall(f"The run {run.run_id} has no call {call_id}.", details={"call_id": call_id})
    frame = run.frames[number]
    if not isinstance(frame.activity, Pending):
        raise AssertionError("a call that waits is that of a frame that waits for it")
    return frame, _node(frame), frame.activity


def _node(frame: Frame) -> NodeCode:
    code = frame.program.steps[frame.step_id]
    if not isinstance(code, NodeCode):
        raise AssertionError("a call belongs to a node step")
    return code
