"""The tree of frames: growing it, pruning it, and knowing who in it is awake.

`wf_core.runtime.foreach` bounds the items that execute by what this module counts.
"""

from dataclasses import dataclass
from datetime import datetime

from wf_core.plan import ForeachStep
from wf_core.runtime.patches import merge_writes
from wf_core.runtime.program import Program
from wf_core.state import Asking, Calling, Delayed, Frame, InChild, Layer, Lineage, Looping, Role, RunState


@dataclass(frozen=True, slots=True)
class Turn:
    """One transition of one run, at one moment."""

    run: RunState
    now: datetime


def grow(
    run: RunState,
    *,
    role: Role,
    scope: int,
    parent: Frame | None,
    step_id: str,
    program: Program,
    index: int | None = None,
    own_lineage: bool = False,
) -> Frame:
    """Add a frame and wake it. `own_lineage`: its writes stay its own until they are merged."""
    number = run.counters.frame
    run.counters.frame = number + 1
    lineage = None if role != "item" or parent is None else parent.lineage
    if own_lineage:
        below = run.scopes[scope].layer if lineage is None else run.lineages[lineage].layer
        run.lineages[number] = Lineage(number, scope, lineage, Layer({}, below, []))
        lineage = number
    frame = Frame(
        id=number,
        role=role,
        scope=scope,
        parent=None if parent is None else parent.id,
        index=index,
        lineage=lineage,
        step_id=step_id,
    )
    run.frames[number] = frame
    _link_frame(run, frame, program)
    wake(run, frame)
    return frame


def wake(run: RunState, frame: Frame) -> None:
    """Let a frame go on when its turn comes."""
    run.ready.append(frame.id)
    if not frame.awake:
        frame.awake = True
        _shift(run, frame, 1)


def nudge(run: RunState, frame: Frame) -> None:
    """Let a frame look at the frames below it again, unless it is about to."""
    if not frame.awake:
        wake(run, frame)


def rest(run: RunState, frame: Frame) -> None:
    """Let a frame wait for an answer, or for the frames below it."""
    if frame.awake:
        frame.awake = False
        _shift(run, frame, -1)


def wake_or_park(run: RunState, frame: Frame) -> None:
    """Let an answered frame go on as soon as the loops around it have a place for it."""
    inner = frame
    while inner.parent is not None:
        outer = run.frames[inner.parent]
        loop = outer.activity
        if isinstance(loop, Looping) and inner.busy == 0 and loop.places >= _width(outer):
            loop.parked.append(frame.id)
            return
        inner = outer
    wake(run, frame)


def prune(run: RunState, frame: Frame) -> None:
    """Remove a frame and everything below it: calls (their driver is to cancel them), questions, writes, scopes."""
    for child in _children(run, frame):
        prune(run, child)
    match frame.activity:
        case Calling(call=call):
            run.calls.pop(call, None)
        case Delayed():
            run.delays.pop(frame.id, None)
        case Asking(interrupt=interrupt):
            run.interrupts.pop(interrupt, None)
        case _:
            pass
    if frame.busy:
        frame.busy = 1  # one step down empties it, whoever was awake below
        _shift(run, frame, -1)
    del run.frames[frame.id]
    run.lineages.pop(frame.id, None)
    if frame.role == "child":
        del run.scopes[frame.scope]


def _children(run: RunState, frame: Frame) -> list[Frame]:
    match frame.activity:
        case InChild(frame=child):
            numbers = [child]
        case Looping() as loop:
            numbers = list(loop.active.values())
        case _:
            numbers = []
    return [run.frames[number] for number in numbers if number in run.frames]


def link(run: RunState, program: Program) -> None:
    """Give the frames of a loaded state the parts of their program, and derive what is not stored."""
    if run.linked is program:
        return
    for lineage in run.lineages.values():
        layer = lineage.layer
        layer.parent = run.scopes[lineage.scope].layer if lineage.parent is None else run.lineages[lineage.parent].layer
        log, layer.log = layer.log or [], []
        layer.values.clear()
        layer.lazy.clear()
        merge_writes(program.at(run.scopes[lineage.scope].program).shape, layer, [log])
    for frame in run.frames.values():
        frame.awake, frame.busy = False, 0
        if isinstance(frame.activity, Looping):
            frame.activity.places = 0
        _link_frame(run, frame, program.at(run.scopes[frame.scope].program))
    ready = set(run.ready)
    run.delays = {
        frame.id: frame.activity.due_at
        for frame in run.frames.values()
        if isinstance(frame.activity, Delayed) and frame.id not in ready
    }
    for frame in run.frames.values():
        if frame.id in ready or isinstance(frame.activity, (Calling, Delayed)):
            frame.awake = True
            _shift(run, frame, 1)
    run.linked = program


def _link_frame(run: RunState, frame: Frame, program: Program) -> None:
    frame.program = program
    frame.layer = run.scopes[frame.scope].layer if frame.lineage is None else run.lineages[frame.lineage].layer
    if frame.parent is not None:
        outer = run.frames[frame.parent]
        frame.prefix = (*outer.prefix, outer.step_id)
        if frame.index is not None:
            frame.prefix += (str(frame.index),)


def _shift(run: RunState, frame: Frame, by: int) -> None:
    """Count somebody awake more or less, as far up as that changes whether anybody is."""
    current = frame
    while True:
        was = current.busy > 0
        current.busy += by
        if (current.busy > 0) == was:
            return
        if current.parent is None:
            return
        outer = run.frames[current.parent]
        if isinstance(outer.activity, Looping):
            outer.activity.places += by
            if by < 0:
                # A place became free: the loop fills it. It counts as awake before this frame is taken off.
                nudge(run, outer)
        current = outer


def _width(frame: Frame) -> int:
    """Give how many items of a loop may execute at once."""
    step = frame.program.plan.steps[frame.step_id]
    return step.max_active if isinstance(step, ForeachStep) and step.mode == "concurrent" else 1
