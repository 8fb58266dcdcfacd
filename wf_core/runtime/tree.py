"""The tree of frames: growing it, pruning it, and knowing who in it is awake.

`loops` bounds the items that execute by what this module counts.
"""

from collections.abc import Iterator
from datetime import datetime

from wf_core.frozen import frozen
from wf_core.runtime.program import LoopCode, Program
from wf_core.state import Asking, Calling, Delayed, Frame, InChild, Layer, Lineage, Looping, Pending, Role, RunState


@frozen
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
    attach(run, frame, program)
    wake(run, frame)
    return frame


def wake(run: RunState, frame: Frame) -> None:
    """Let a frame go on when its turn comes."""
    frame.parked = False
    run.ready.append(frame.id)
    stir(run, frame)


def stir(run: RunState, frame: Frame) -> None:
    """Count a frame as awake: it has a turn coming, calls, or waits for a time."""
    if not frame.awake:
        frame.awake = True
        _shift(run, frame, 1)


def nudge(run: RunState, frame: Frame) -> None:
    """Let a frame look at the frames below it again, unless it is about to."""
    if not (frame.awake or frame.parked):
        admit(run, frame)


def rest(run: RunState, frame: Frame) -> None:
    """Let a frame wait for an answer, or for the frames below it."""
    if frame.awake:
        frame.awake = False
        _shift(run, frame, -1)


def suspend(run: RunState, frame: Frame, pending: Pending) -> None:
    """Let a frame wait for a word from outside on its call."""
    frame.activity = pending
    if pending.expires_at is not None:
        run.expiries[frame.id] = pending.expires_at
    rest(run, frame)


def admit(run: RunState, frame: Frame, *, within: Frame | None = None) -> None:
    """Let a frame that waited go on as soon as the loops around it have a place for its item.

    `within` is a loop that has just given the item one, so that it and the loops around it need not be asked.
    """
    inner = frame
    while inner.parent is not None:
        outer = run.frames[inner.parent]
        if outer is within:
            break
        # An item that executes holds its place already; no other overtakes those that wait for one.
        match outer.activity:
            case Looping() as loop if inner.index is not None and inner.busy == 0:
                code: LoopCode = outer.program.steps[outer.step_id]
                if loop.parked or loop.places >= code.width:
                    frame.parked = True
                    loop.parked.setdefault(inner.index, []).append(frame.id)
                    return
            case _:
                pass
        inner = outer
    wake(run, frame)


def prune(run: RunState, frame: Frame) -> None:
    """Remove a frame and everything below it: calls (their driver is to cancel them), questions, writes, scopes."""
    for below in reversed(list(descend(run, frame))):
        _remove(run, below)


def children(run: RunState, frame: Frame) -> Iterator[Frame]:
    """Yield the frames right below a frame, as far as they still are."""
    match frame.activity:
        case InChild(frame=child):
            numbers = [child]
        case Looping(active=active):
            numbers = list(active.values())
        case _:
            numbers = []
    yield from (run.frames[number] for number in numbers if number in run.frames)


def descend(run: RunState, frame: Frame) -> Iterator[Frame]:
    """Yield a frame and every frame below it."""
    # A stack of its own: loops and child workflows may nest deeper than Python's.
    waiting = [frame]
    while waiting:
        current = waiting.pop()
        yield current
        waiting += reversed(list(children(run, current)))


def attach(run: RunState, frame: Frame, program: Program) -> None:
    """Give a frame the parts of its program, its sight of the state and its place in the tree; its parent has them."""
    frame.program = program
    frame.layer = run.scopes[frame.scope].layer if frame.lineage is None else run.lineages[frame.lineage].layer
    if frame.parent is not None:
        outer = run.frames[frame.parent]
        frame.prefix = (*outer.prefix, outer.step_id)
        if frame.index is not None:
            frame.prefix += (outer.program.steps[outer.step_id].label(frame.index),)


def _remove(run: RunState, frame: Frame) -> None:
    match frame.activity:
        case Calling(call=call):
            run.calls.pop(call, None)
        case Delayed():
            run.delays.pop(frame.id, None)
        case Pending():
            run.expiries.pop(frame.id, None)
        case Asking(interrupt=interrupt):
            run.interrupts.pop(interrupt, None)
        case _:
            pass
    rest(run, frame)
    del run.frames[frame.id]
    run.lineages.pop(frame.id, None)
    if frame.role == "child":
        del run.scopes[frame.scope]


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
