"""What an expression may look at: the input, the state as its frame sees it, and the context."""

from collections.abc import Iterator
from dataclasses import dataclass

from wf_core.jsonvalue import JsonValue
from wf_core.paths import MISSING, Missing
from wf_core.plan import ForeachStep
from wf_core.state import Frame, Layer, Looping, RunState


@dataclass(slots=True)
class View:
    """One frame's sight of its run, or, without a frame, of an input and a state alone."""

    input: JsonValue
    layer: Layer
    run: RunState | None = None
    frame: Frame | None = None

    def context(self, name: str) -> JsonValue | Missing:
        """Give `context.<name>`: the run, the step, the attempt, or an item of a loop around this frame."""
        frame, run = self.frame, self.run
        if frame is None or run is None:
            return MISSING
        match name:
            case "run_id":
                return run.run_id
            case "step_id":
                return frame.step_id
            case "attempt":
                return frame.attempt
            case _:
                return _item(run, frame, name)

    def whole_context(self) -> dict[str, JsonValue]:
        """Give `context` itself."""
        names = ["run_id", "step_id", "attempt"]
        if self.frame is not None and self.run is not None:
            for alias, _, _ in _loops(self.run, self.frame):
                names += [alias, f"{alias}_index"]
        found = {name: self.context(name) for name in names}
        return {name: value for name, value in found.items() if not isinstance(value, Missing)}


def view_of(run: RunState, frame: Frame) -> View:
    """Give a frame's sight of its run."""
    return View(run.scopes[frame.scope].input, frame.layer, run, frame)


def _item(run: RunState, frame: Frame, name: str) -> JsonValue | Missing:
    for alias, items, index in _loops(run, frame):
        if name == alias:
            return items[index]
        if name == f"{alias}_index":
            return index
    return MISSING


def _loops(run: RunState, frame: Frame) -> Iterator[tuple[str, list[JsonValue], int]]:
    """Yield the loops around a frame within its own workflow, the innermost first: name, items and index."""
    inner: Frame = frame
    while inner.role == "item" and inner.parent is not None and inner.index is not None:
        outer = run.frames[inner.parent]
        step = outer.program.plan.steps[outer.step_id]
        if not isinstance(outer.activity, Looping):
            raise AssertionError("the parent of an item is a loop")
        if isinstance(step, ForeachStep):
            yield step.as_, outer.activity.items, inner.index
        inner = outer
