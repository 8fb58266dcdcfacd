"""Whether a stored run holds together: what refers to something, refers to something that is there."""

from wf_core.codec.fields import corrupt
from wf_core.state import FINAL, Asking, Calling, Delayed, Frame, InChild, Looping, RunState


def check_references(run: RunState) -> None:
    """Refuse a run that contradicts itself.

    Raises:
        StateCorrupt: naming the first contradiction.
    """
    _check_status(run)
    for scope in run.scopes.values():
        _require(
            scope.id < run.counters.scope or scope.id == 0, f"scopes {scope.id}", "has an id that was not given yet"
        )
    for frame in run.frames.values():
        _check_frame(run, frame)
    for number, lineage in run.lineages.items():
        where = f"lineage {number}"
        _require(number in run.frames, where, "belongs to no frame")
        _require(lineage.scope in run.scopes, where, f"is over scope {lineage.scope}, which is not there")
        _require(lineage.parent is None or lineage.parent in run.lineages, where, "is over a lineage that is not there")
        _require(lineage.parent is None or lineage.parent < number, where, "is over a younger lineage")
    for number in run.ready:
        _require(number in run.frames, "ready", f"names frame {number}, which is not there")
        activity = run.frames[number].activity
        _require(not isinstance(activity, (Calling, Asking)), "ready", f"names frame {number}, which waits")
    _require(len(set(run.ready)) == len(run.ready), "ready", "names a frame twice")
    for call in run.calls.values():
        holder = run.frames.get(call.frame)
        mutual = holder is not None and holder.activity == Calling(call.id)
        _require(mutual, f"call {call.id}", f"is not that of frame {call.frame}")
    for interrupt in run.interrupts.values():
        holder = run.frames.get(interrupt.frame)
        mutual = holder is not None and holder.activity == Asking(interrupt.id)
        _require(mutual, f"interrupt {interrupt.id}", f"is not that of frame {interrupt.frame}")


def _check_status(run: RunState) -> None:
    if run.status in FINAL:
        left = run.frames or run.ready or run.calls or run.interrupts or run.lineages
        _require(not left, "status", f"is {run.status}, yet something can go on")
        _require(
            (run.error is not None) == (run.status != "completed"),
            "status",
            f"is {run.status}, which its error contradicts",
        )
        _require(
            (run.outcome is not None) == (run.status == "completed"),
            "status",
            f"is {run.status}, which its outcome contradicts",
        )
        return
    roots = [frame for frame in run.frames.values() if frame.role == "root"]
    _require(len(roots) == 1, "frames", "have no single root")
    _require(run.error is None and run.outcome is None, "status", f"is {run.status}, yet the run has ended")
    if run.status == "interrupted":
        _require(bool(run.interrupts), "status", "is interrupted, yet no question is open")
        delayed = any(isinstance(one.activity, Delayed) for one in run.frames.values())
        _require(not (run.ready or run.calls or delayed), "status", "is interrupted, yet something can go on")
    else:
        moving = run.ready or run.calls or any(isinstance(one.activity, Delayed) for one in run.frames.values())
        _require(bool(moving or run.interrupts), "status", "is running, yet nothing can go on")


def _check_frame(run: RunState, frame: Frame) -> None:
    where = f"frame {frame.id}"
    _require(frame.id < run.counters.frame, where, "has an id that was not given yet")
    _require(frame.scope in run.scopes, where, f"is in scope {frame.scope}, which is not there")
    _require(frame.lineage is None or frame.lineage in run.lineages, where, "writes to a lineage that is not there")
    _require((frame.role == "root") == (frame.parent is None), where, "has a parent that its role does not allow")
    _require((frame.role == "item") == (frame.index is not None), where, "has an index that its role does not allow")
    if frame.parent is not None:
        parent = run.frames.get(frame.parent)
        _require(parent is not None and parent.id < frame.id, where, "has no older parent")
        _require(parent is not None and _holds(parent, frame), where, "is not known to its parent")
    match frame.activity:
        case Calling(call=call):
            _require(call in run.calls, where, f"waits for call {call}, which is not there")
        case Asking(interrupt=interrupt):
            _require(interrupt in run.interrupts, where, f"asks {interrupt}, which is not there")
        case InChild(frame=child, ended=ended):
            _require((child in run.frames) == (ended is None), where, "contradicts its child about having ended")
        case Looping() as loop:
            _require(
                all(number in run.frames for number in loop.active.values()),
                where,
                "loops over frames that are not there",
            )
            _require(loop.next_index <= len(loop.items), where, "has begun more items than there are")
            indexes = [*loop.active, *loop.writes, *loop.failures]
            _require(all(index < loop.next_index for index in indexes), where, "knows items that have not begun")
        case _:
            pass


def _holds(parent: Frame, frame: Frame) -> bool:
    match parent.activity:
        case InChild(frame=child):
            return child == frame.id
        case Looping() as loop:
            return frame.index is not None and loop.active.get(frame.index) == frame.id
        case _:
            return False


def _require(holds: bool, where: str, reason: str) -> None:
    if not holds:
        raise corrupt(where, reason)
