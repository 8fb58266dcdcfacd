"""Carrying a loop through: filling its places with items, and closing it. Branches of a parallel step are items too.

How the writes of concurrent items meet is `barriers`; who counts as executing is `tree`.
"""

from wf_core.jsonvalue import JsonValue
from wf_core.plan import BREAK, END
from wf_core.runtime.barriers import meet
from wf_core.runtime.faults import refuse_deep
from wf_core.runtime.flow import advance, pass_on
from wf_core.runtime.nodes import note_cancelled
from wf_core.runtime.patches import apply_writes
from wf_core.runtime.program import LoopCode
from wf_core.runtime.targets import Target
from wf_core.runtime.tree import Turn, admit, descend, grow, rest
from wf_core.state import Frame, Looping, RunError, Write

DONE = "done"
WITH_ERRORS = "completed_with_errors"


def visit_loop(turn: Turn, frame: Frame, code: LoopCode, loop: Looping) -> None:
    """Go on with a loop some of whose items may have ended: fill its places, or close it.

    Raises:
        StepFailed: what the items wrote could not be committed.
    """
    run = turn.run
    if loop.failures and code.gives_up:
        _give_up(turn, frame, code, loop)
        return
    if not code.concurrent:
        _collect_serial(frame, code, loop)
    while loop.parked and loop.places < code.width:
        for number in loop.parked.pop(next(iter(loop.parked))):
            admit(run, run.frames[number], within=frame)
    while _more(loop) and loop.places < code.width and (code.concurrent or not loop.active):
        _start_item(turn, frame, code, loop)
    if loop.active:
        rest(run, frame)
    else:
        _close(turn, frame, code, loop)


def _give_up(turn: Turn, frame: Frame, code: LoopCode, loop: Looping) -> None:
    """End the loop with the first failure, and the items that still go on with it."""
    first = min(loop.failures)
    reason = f"{frame.step_id} ended because its {code.name(first)} failed."
    note_cancelled(turn, descend(turn.run, frame), reason)
    pass_on(turn, frame, loop.failures[first])


def _more(loop: Looping) -> bool:
    return loop.next_index < len(loop.items) and not loop.broken


def _start_item(turn: Turn, frame: Frame, code: LoopCode, loop: Looping) -> None:
    index = loop.next_index
    loop.next_index += 1
    first = code.first_step(index)
    if first in (END, BREAK):
        return
    item = grow(
        turn.run,
        role="item",
        scope=frame.scope,
        parent=frame,
        step_id=first,
        program=frame.program,
        index=index,
        own_lineage=code.concurrent,
    )
    loop.active[index] = item.id


def _close(turn: Turn, frame: Frame, code: LoopCode, loop: Looping) -> None:
    failed = bool(loop.failures)
    if code.concurrent:
        writes = dict(loop.writes)
        if code.collect_to is not None:
            for index, error in loop.failures.items():
                writes[index] = [_collected(code.collect_to, loop, index, error)]
        meet(frame.program.shape, frame.layer, writes, code.name)
    outcome = WITH_ERRORS if failed and WITH_ERRORS in code.step.routes else DONE
    advance(turn, frame, outcome, output={"items": len(loop.items), "failed": len(loop.failures)})


def _collect_serial(frame: Frame, code: LoopCode, loop: Looping) -> None:
    """Commit the record of the item that just failed: serial writes commit as they come."""
    index = loop.next_index - 1
    if code.collect_to is not None and index in loop.failures:
        path, reducer, record = _collected(code.collect_to, loop, index, loop.failures[index])
        apply_writes(frame.program.shape, frame.layer, [(frame.program.shape.target(path, reducer), record)])


def _collected(target: Target, loop: Looping, index: int, error: RunError) -> Write:
    item = loop.items[index]
    refuse_deep("state_invalid", f"The item {index}, which {target.text} collects,", item)
    record: dict[str, JsonValue] = {"code": error.code, "message": error.message, "step_id": error.step_id}
    return target.path, "append", {"index": index, "item": item, "error": record}
