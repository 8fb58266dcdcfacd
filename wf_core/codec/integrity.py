"""Whether a stored run holds together: what refers to something, refers to something that is there.

What only the plan can tell, that a step exists and does what its frame does, is seen when the state is linked to it.
"""

import re
from collections.abc import Iterable
from itertools import chain

from wf_core.codec.fields import corrupt
from wf_core.state import FINAL, Asking, Calling, Delayed, Frame, InChild, Lineage, Looping, Pending, RunState


def check_references(run: RunState) -> None:
    """Refuse a run that contradicts itself.

    Raises:
        StateCorrupt: naming the first contradiction.
    """
    _check_status(run)
    _check_ids(run)
    for frame in run.frames.values():
        _check_tree(run, frame)
    for frame in run.frames.values():
        _check_activity(run, frame)
    _check_scopes(run)
    for lineage in run.lineages.values():
        _check_lineage(run, lineage)
    _check_ready(run)
    for call in run.calls.values():
        _require(
            _activity(run, call.frame) == Calling(call.id), f"call {call.id}", f"is not that of frame {call.frame}"
        )
    for interrupt in run.interrupts.values():
        where = f"interrupt {interrupt.id}"
        _require(_activity(run, interrupt.frame) == Asking(interrupt.id), where, f"is not that of {interrupt.frame}")
        _require(interrupt.step_id == run.frames[interrupt.frame].step_id, where, "is asked by another step")
        _require(bool(interrupt.outcomes), where, "offers no outcome")


def _check_status(run: RunState) -> None:
    ended = run.status in FINAL
    where = "status"
    _require((run.error is not None) == (ended and run.status != "completed"), where, "contradicts the error")
    _require((run.outcome is not None) == (run.status == "completed"), where, "contradicts the outcome")
    _require(run.output is None or run.status == "completed", where, "contradicts the output")
    delayed = any(isinstance(frame.activity, Delayed) for frame in run.frames.values())
    moving = bool(run.ready or run.calls or delayed)
    if ended:
        left = run.frames or run.ready or run.calls or run.interrupts or run.lineages
        _require(not left, where, f"is {run.status}, yet something can go on")
        return
    _require(
        [frame.id for frame in run.frames.values() if frame.role == "root"] == [0], "frames", "have no single root"
    )
    pending = bool(run.pending_calls)
    if run.status == "interrupted":
        _require(bool(run.interrupts) or pending, where, "is interrupted, yet waits for nobody")
        _require(not moving, where, "is interrupted, yet something can go on")
    else:
        _require(moving or bool(run.interrupts) or pending, where, "is running, yet nothing can go on")


def _check_ids(run: RunState) -> None:
    """Ids are given in order and never again, and what has one stands in the order of the ids."""
    kept = [frame.activity.call for frame in run.frames.values() if isinstance(frame.activity, (Delayed, Pending))]
    _check_numbers(run.frames, run.counters.frame, "frames")
    _check_numbers(run.lineages, run.counters.frame, "lineages")
    # A run that failed before its first step has a scope that was given to nobody.
    _check_numbers(run.scopes, max(run.counters.scope, 1), "scopes")
    _check_names("c", [*run.calls, *(call.id for call in kept)], run.counters.call, "calls")
    _check_names("int_", list(run.interrupts), run.counters.interrupt, "interrupts")


def _check_numbers(numbers: Iterable[int], following: int, where: str) -> None:
    given = list(numbers)
    _require(given == sorted(given), where, "are out of order")
    _require(not given or given[-1] < following, where, "have an id that was not given yet")


def _check_names(prefix: str, names: list[str], following: int, where: str) -> None:
    shape = re.compile(rf"{prefix}([1-9][0-9]{{0,17}})")
    _require(len(set(names)) == len(names), where, "have an id twice")
    for name in names:
        found = shape.fullmatch(name)
        _require(found is not None and int(found[1]) < following, where, f"have the id {name}, which was not given yet")


def _check_tree(run: RunState, frame: Frame) -> None:
    """See that a frame is where its parent looks for it, in the scope and lineage that follow from that."""
    where = f"frame {frame.id}"
    _require(frame.scope in run.scopes, where, f"is in scope {frame.scope}, which is not there")
    _require(frame.lineage is None or frame.lineage in run.lineages, where, "writes to a lineage that is not there")
    _require((frame.role == "root") == (frame.parent is None), where, "has a parent that its role does not allow")
    _require((frame.role == "item") == (frame.index is not None), where, "has an index that its role does not allow")
    if frame.parent is None:
        _require(frame.scope == 0 and frame.lineage is None, where, "is not in the scope of the run")
        return
    parent = run.frames.get(frame.parent)
    if parent is None or parent.id >= frame.id:
        raise corrupt(where, "has no older parent")
    match parent.activity, frame.index:
        case InChild(frame=child), None:
            _require(child == frame.id, where, "is not known to its parent")
            _require(frame.lineage is None, where, "writes to a lineage of another scope")
        case Looping(active=active), int(index):
            _require(active.get(index) == frame.id, where, "is not known to its parent")
            _require(frame.scope == parent.scope, where, "is in another scope than its loop")
            _require(frame.lineage in (parent.lineage, frame.id), where, "writes to a lineage of others")
        case _:
            raise corrupt(where, "is not what its parent waits for")


def _check_activity(run: RunState, frame: Frame) -> None:
    where = f"frame {frame.id}"
    match frame.activity:
        case Calling(call=call):
            _require(call in run.calls, where, f"waits for call {call}, which is not there")
        case Delayed(call=call) | Pending(call=call):
            _require(call.frame == frame.id, where, "holds a call of another frame")
        case Asking(interrupt=interrupt):
            _require(interrupt in run.interrupts, where, f"asks {interrupt}, which is not there")
        case InChild(frame=child, ended=ended):
            _require((child in run.frames) == (ended is None), where, "contradicts its child about having ended")
            well = ended is not None and ended.error is None
            _require(ended is None or (ended.outcome is not None) == well, where, "contradicts itself about its child")
        case Looping() as loop:
            _check_loop(run, frame, loop)
        case None:
            pass


def _check_loop(run: RunState, frame: Frame, loop: Looping) -> None:
    where = f"frame {frame.id}"
    _require(
        all(number in run.frames for number in loop.active.values()), where, "loops over frames that are not there"
    )
    _require(loop.next_index <= len(loop.items), where, "has begun more items than there are")
    known = chain(loop.active, loop.writes, loop.failures)
    _require(all(index < loop.next_index for index in known), where, "knows items that have not begun")
    _require(
        not loop.active.keys() & (loop.writes.keys() | loop.failures.keys()), where, "has items that began and ended"
    )
    for index, numbers in loop.parked.items():
        _require(
            bool(numbers) and index in loop.active, where, f"keeps a place for item {index}, which does not need it"
        )
        for number in numbers:
            inside = number in run.frames and loop.active[index] in _upward(run, number)
            _require(inside, where, f"keeps a place for frame {number}, which is not in item {index}")


def _check_scopes(run: RunState) -> None:
    """See that each scope but that of the run is that of one child workflow, whose step leads to it."""
    _require(0 in run.scopes and run.scopes[0].program == (), "scopes", "have none of the run itself")
    children = {frame.scope: frame for frame in run.frames.values() if frame.role == "child"}
    _require(run.scopes.keys() == {0, *children}, "scopes", "are not those of the child workflows")
    _require(len(children) == sum(frame.role == "child" for frame in run.frames.values()), "scopes", "are shared")
    for number, frame in children.items():
        outer = run.frames[frame.parent or 0]
        led = (*run.scopes[outer.scope].program, outer.step_id)
        _require(run.scopes[number].program == led, f"scope {number}", "is of another plan than its step runs")


def _check_lineage(run: RunState, lineage: Lineage) -> None:
    where = f"lineage {lineage.frame}"
    frame = run.frames.get(lineage.frame)
    if frame is None or frame.lineage != frame.id or frame.parent is None:
        raise corrupt(where, "belongs to no concurrent item")
    _require(lineage.scope == frame.scope, where, "is over another scope than its item")
    _require(lineage.parent == run.frames[frame.parent].lineage, where, "is over another lineage than its item")


def _check_ready(run: RunState) -> None:
    """Whoever waits for nothing has a turn coming, or is told to wait for a place; nobody has two."""
    loops = [frame.activity for frame in run.frames.values() if isinstance(frame.activity, Looping)]
    parked = [number for loop in loops for numbers in loop.parked.values() for number in numbers]
    coming = [*run.ready, *parked]
    _require(len(set(coming)) == len(coming), "ready", "and the frames that wait for a place name a frame twice")
    for number in coming:
        _require(number in run.frames, "ready", f"names frame {number}, which is not there")
        _require(
            not isinstance(_activity(run, number), (Calling, Pending, Asking)),
            "ready",
            f"names frame {number}, which waits",
        )
    for frame in run.frames.values():
        match frame.activity:
            case InChild(ended=ended):
                stuck = ended is not None
            case Looping(active=active):
                stuck = not active
            case activity:
                stuck = activity is None
        _require(not stuck or frame.id in coming, f"frame {frame.id}", "could go on and has no turn")


def _upward(run: RunState, number: int) -> Iterable[int]:
    """Yield a frame's id and those of the frames around it; parents are known to be older."""
    current: int | None = number
    while current is not None:
        yield current
        current = run.frames[current].parent


def _activity(run: RunState, number: int) -> object:
    return run.frames[number].activity if number in run.frames else None


def _require(holds: bool, where: str, reason: str) -> None:
    if not holds:
        raise corrupt(where, reason)
