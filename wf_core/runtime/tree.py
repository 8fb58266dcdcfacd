"""The tree of frames: growing it, pruning it, and knowing who in it is awake.

`wf_core.runtime.foreach` bounds the items that execute by what this module counts.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from types import NoneType

from wf_core.errors import StateCorrupt, StepFailed
from wf_core.plan import ForeachStep
from wf_core.runtime.patches import merge_writes
from wf_core.runtime.program import ForeachCode, InterruptCode, NodeCode, Program, SubgraphCode
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
    frame.parked = False
    run.ready.append(frame.id)
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


def admit(run: RunState, frame: Frame, *, within: Frame | None = None) -> None:
    """Let a frame that waited go on as soon as the loops around it have a place for its item.

    `within` is a loop that has just given the item one, so that it and the loops around it need not be asked.
    """
    inner = frame
    while inner.parent is not None:
        outer = run.frames[inner.parent]
        if outer is within:
            break
        loop = outer.activity
        # An item that executes holds its place already; no other overtakes those that wait for one.
        full = isinstance(loop, Looping) and (loop.parked or loop.places >= _width(outer))
        if isinstance(loop, Looping) and inner.index is not None and inner.busy == 0 and full:
            frame.parked = True
            loop.parked.setdefault(inner.index, []).append(frame.id)
            return
        inner = outer
    wake(run, frame)


def prune(run: RunState, frame: Frame) -> None:
    """Remove a frame and everything below it: calls (their driver is to cancel them), questions, writes, scopes."""
    for child in list(children(run, frame)):
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
    yield frame
    for child in children(run, frame):
        yield from descend(run, child)


def link(run: RunState, program: Program) -> None:
    """Give the frames of a loaded state the parts of their program, and derive what is not stored.

    Raises:
        StateCorrupt: the state is no state of this program.
    """
    if run.linked is program:
        return
    try:
        _replay_lineages(run, program)
        for frame in run.frames.values():
            _link_frame(run, frame, program.at(run.scopes[frame.scope].program))
            frame.awake, frame.parked, frame.busy = False, False, 0
            if isinstance(frame.activity, Looping):
                frame.activity.places = 0
    except (KeyError, StepFailed) as exc:
        raise StateCorrupt(f"The stored run does not belong to this plan: {exc}") from exc
    _derive_activity(run)
    run.linked = program


def _replay_lineages(run: RunState, program: Program) -> None:
    """Write again what the items of concurrent loops have written, outer items first."""
    for lineage in run.lineages.values():
        below = run.scopes[lineage.scope].layer if lineage.parent is None else run.lineages[lineage.parent].layer
        log = lineage.layer.log or []
        lineage.layer = Layer({}, below, [])
        merge_writes(program.at(run.scopes[lineage.scope].program).shape, lineage.layer, [log])


def _derive_activity(run: RunState) -> None:
    ready = set(run.ready)
    run.delays.clear()
    for frame in run.frames.values():
        match frame.activity:
            case Delayed(due_at=due_at) if frame.id not in ready:
                run.delays[frame.id] = due_at
            case Looping(parked=parked):
                for number in chain.from_iterable(parked.values()):
                    run.frames[number].parked = True
            case _:
                pass
        if frame.id in ready or isinstance(frame.activity, (Calling, Delayed)):
            frame.awake = True
            _shift(run, frame, 1)


def _link_frame(run: RunState, frame: Frame, program: Program) -> None:
    """Give a frame its program and its layer, and see that its step is one that does what the frame does.

    Raises:
        KeyError: the program has no such step.
    """
    frame.program = program
    if not isinstance(program.steps[frame.step_id], _STEPS_OF[type(frame.activity)]):
        raise KeyError(frame.step_id)
    frame.layer = run.scopes[frame.scope].layer if frame.lineage is None else run.lineages[frame.lineage].layer
    if frame.parent is not None:
        outer = run.frames[frame.parent]
        frame.prefix = (*outer.prefix, outer.step_id)
        if frame.index is not None:
            frame.prefix += (str(frame.index),)


_STEPS_OF: Mapping[type, type | tuple[type, ...]] = {
    NoneType: object,
    Calling: NodeCode,
    Delayed: NodeCode,
    Asking: InterruptCode,
    InChild: SubgraphCode,
    Looping: ForeachCode,
}
"""Activity -> the kinds of step whose frames may have it."""


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
