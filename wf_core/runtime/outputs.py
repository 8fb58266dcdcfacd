"""What leaves a step or a workflow: the writes that a result maps to, and the plan's own output."""

from collections.abc import Sequence

from wf_core.errors import StepFailed
from wf_core.jsonvalue import JsonValue
from wf_core.paths import Missing, format_path, lookup
from wf_core.runtime.faults import fault
from wf_core.runtime.program import Mapped, Program
from wf_core.runtime.targets import Target
from wf_core.runtime.views import view_of
from wf_core.schemas import Check
from wf_core.state import Frame, RunState


def map_result(entries: Sequence[Mapped], result: JsonValue) -> list[tuple[Target, JsonValue]]:
    """Pick from a step's result what it writes.

    Raises:
        StepFailed: `path_not_found`, a source that is not optional is missing.
    """
    writes: list[tuple[Target, JsonValue]] = []
    for entry in entries:
        value = lookup(result, entry.source)
        if not isinstance(value, Missing):
            writes.append((entry.target, value))
        elif not entry.optional:
            source = format_path(entry.source)
            raise StepFailed(
                "path_not_found",
                f"The result has nothing at {source}, which {entry.target.text} is filled from.",
                details={"path": source, "target": entry.target.text},
            )
    return writes


def workflow_output(run: RunState, frame: Frame) -> JsonValue:
    """Build and check the output of the workflow that ended with a frame.

    Raises:
        StepFailed: `path_not_found` or `output_invalid`.
    """
    program: Program = frame.program
    if program.build_output is not None:
        output: JsonValue = program.build_output(view_of(run, frame))
    else:
        fields = ((name, frame.layer.field(name)) for name in program.output_names)
        output = {name: value for name, value in fields if not isinstance(value, Missing)}
    require("output_invalid", "The workflow's output", program.output_check, output, "output")
    return output


def require(code: str, what: str, check: Check | None, value: JsonValue, where: str) -> None:
    """Fail the step with `code` unless the value fits."""
    found = fault(check, value, where)
    if found is not None:
        raise StepFailed(code, f"{what} does not fit its schema: {found.text}", details={"problems": found.problems})
