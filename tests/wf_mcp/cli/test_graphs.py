"""Plans drawn with the places where a run has been."""

from typing import Any

from rich.console import Console

from tests.wf_mcp.cli.plans import NESTED, SAVED
from wf_mcp.cli.graphs import drawing, marks
from wf_mcp.operations.models import InterruptView, RunErrorView, RunSummary, TraceEntry

ERROR: dict[str, Any] = {"code": "timeout", "message": "Too late.", "attempt": 1, "side_effects": "none", "details": {}}


def run(**told: Any) -> RunSummary:
    return RunSummary(
        run_id="run_1",
        status="interrupted",
        resume_readiness="ready",
        deployment_id="d",
        artifact_id="a",
        artifact_version=1,
        **told,
    )


def entry(*path: str, error: dict[str, Any] | None = None) -> TraceEntry:
    return TraceEntry(index=0, step_id=path[-1], path=list(path), step_type="node", outcome="ok", error=error)


def question(*path: str) -> InterruptView:
    return InterruptView(
        id="int_1",
        kind="approval",
        step_id=path[-1],
        path=list(path),
        payload={},
        outcomes=["submitted"],
        request_schema={},
        resume_schema={},
        typed=False,
    )


def failure(*path: str) -> RunErrorView:
    return RunErrorView(**ERROR, step_id=path[-1], path=list(path))


def test_a_question_deep_inside_marks_every_step_around_it() -> None:
    found = marks(run(interrupts=[question("deep", "ask")]), [entry("both", "a", "left")], NESTED, SAVED)
    assert found == {("left",): "done", ("deep",): "waiting", ("deep", "ask"): "waiting"}


def test_of_the_items_of_a_loop_the_one_that_needs_somebody_counts() -> None:
    entries = [entry("each", "0", "read"), entry("each", "1", "read", error=ERROR), entry("each", "2", "read")]
    assert marks(run(), entries, NESTED) == {("read",): "failed"}
    told = run(interrupts=[question("each", "3", "read")])
    assert marks(told, entries, NESTED) == {("each",): "waiting", ("read",): "waiting"}


def test_a_failure_marks_where_it_happened_and_what_is_around() -> None:
    found = marks(run(error=failure("each", "0", "inner", "rate")), [], NESTED)
    assert found == {("each",): "failed", ("inner",): "failed", ("inner", "rate"): "failed"}


def test_a_drawing_shows_the_marks() -> None:
    marked = marks(run(interrupts=[question("deep", "ask")]), [entry("both")], NESTED, SAVED)
    console = Console(width=100, color_system=None)
    with console.capture() as captured:
        console.print(drawing(NESTED, marked, SAVED))
    text = captured.get()
    assert all(step in text for step in ("│  ✓ both  ", "│  ? deep  ", "│  ┃ ? ask  ", "   · stop  "))
