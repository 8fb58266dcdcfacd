"""Making a state that was loaded a state of its program: what is not stored is derived from what is.

A state that holds together by itself (`wf_core.codec.integrity`) may still be one of another plan; that is seen here.
"""

from datetime import datetime
from itertools import chain

from wf_core.errors import StateCorrupt, StepFailed
from wf_core.runtime.patches import merge_writes
from wf_core.runtime.program import ForeachCode, InterruptCode, NodeCode, ParallelCode, Program, StepCode, SubgraphCode
from wf_core.runtime.tree import attach, stir
from wf_core.state import Asking, Calling, Delayed, Frame, InChild, Layer, Looping, Pending, RunState


def link(run: RunState, program: Program) -> None:
    """Give the frames the parts of their program, and derive who is awake, who waits for what, and who sees what.

    Raises:
        StateCorrupt: the state is no state of this program.
    """
    if run.linked is program:
        return
    try:
        _replay_lineages(run, program)
        for frame in run.frames.values():
            attach(run, frame, program.at(run.scopes[frame.scope].program))
            _check_step(run, frame)
    except (KeyError, StepFailed) as exc:
        raise StateCorrupt(f"The stored run is no run of this plan: {exc}") from exc
    _derive_activity(run)
    run.linked = program


def _replay_lineages(run: RunState, program: Program) -> None:
    """Write again what the items of concurrent loops have written, outer items first."""
    for lineage in run.lineages.values():
        below = run.scopes[lineage.scope].layer if lineage.parent is None else run.lineages[lineage.parent].layer
        log = lineage.layer.log or []
        lineage.layer = Layer({}, below, [])
        merge_writes(program.at(run.scopes[lineage.scope].program).shape, lineage.layer, [log])


def _check_step(run: RunState, frame: Frame) -> None:
    """See that a frame does what its step does.

    Raises:
        KeyError: there is no such step, or it does something else.
    """
    code: StepCode = frame.program.steps[frame.step_id]
    match frame.activity, code:
        case None, _:
            fits = True
        case Calling(call=call), NodeCode(capability=capability):
            fits = run.calls[call].capability == capability
        case ((Delayed(call=call) | Pending(call=call)), NodeCode(capability=capability)):
            fits = call.capability == capability
        case Asking(interrupt=interrupt), InterruptCode(step=step):
            fits = step.routes.keys() >= set(run.interrupts[interrupt].outcomes)
        case InChild(ended=ended), SubgraphCode(step=step):
            fits = ended is None or ended.outcome is None or ended.outcome in step.routes
        case Looping(), ForeachCode():
            fits = True
        case Looping(items=items), ParallelCode(names=names):
            fits = items == list(names)
        case _:
            fits = False
    if not fits:
        raise KeyError(frame.step_id)


def _derive_activity(run: RunState) -> None:
    coming = set(run.ready)
    for frame in run.frames.values():
        if isinstance(frame.activity, Looping):
            for number in chain.from_iterable(frame.activity.parked.values()):
                run.frames[number].parked = True
                coming.add(number)
    for frame in run.frames.values():
        match frame.activity:
            case Delayed(due_at=due_at) if frame.id not in coming:
                run.delays[frame.id] = due_at
            case Pending(expires_at=datetime() as expires_at):
                run.expiries[frame.id] = expires_at
            case _:
                pass
        if not frame.parked and (frame.id in coming or isinstance(frame.activity, (Calling, Delayed))):
            stir(run, frame)
