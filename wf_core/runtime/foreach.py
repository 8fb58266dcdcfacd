"""Foreach steps: what a loop goes over. How it is carried through is `loops`."""

from wf_core.errors import StepFailed
from wf_core.paths import Missing
from wf_core.runtime.loops import visit_loop
from wf_core.runtime.program import ForeachCode
from wf_core.runtime.tree import Turn
from wf_core.runtime.views import view_of
from wf_core.state import Frame, Looping


def visit_foreach(turn: Turn, frame: Frame, code: ForeachCode) -> None:
    """Open the loop.

    Raises:
        StepFailed: `path_not_found`, `foreach_not_a_list`.
    """
    items = code.over(view_of(turn.run, frame))
    if isinstance(items, Missing):
        raise StepFailed("path_not_found", f"Nothing is at {code.step.over}.", details={"path": code.step.over})
    if not isinstance(items, list):
        raise StepFailed("foreach_not_a_list", f"{code.step.over} is not an array.", details={"path": code.step.over})
    loop = Looping(items)
    frame.activity = loop
    visit_loop(turn, frame, code, loop)
