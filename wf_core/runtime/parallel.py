"""Parallel steps: branches that go on at once. How they are carried through is `loops`."""

from wf_core.runtime.loops import visit_loop
from wf_core.runtime.program import ParallelCode
from wf_core.runtime.tree import Turn
from wf_core.state import Frame, Looping


def visit_parallel(turn: Turn, frame: Frame, code: ParallelCode) -> None:
    """Open all branches."""
    loop = Looping(list(code.names))
    frame.activity = loop
    visit_loop(turn, frame, code, loop)
