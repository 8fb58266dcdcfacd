"""What a step can see besides input and state: where it stands."""

from typing import Any

from tests.wf_core.kernel import begin, each, loop, node, path, plan
from wf_core.paths import MISSING
from wf_core.runtime.views import View
from wf_core.state import Layer


def seen(document: dict[str, Any], given: Any) -> list[Any]:
    drive = begin(document, given)
    drive.go()
    return [call.input for call in drive.made]


def test_the_context_has_the_run_the_step_and_the_attempt() -> None:
    step = node(
        input={"run": path("context.run_id"), "step": path("context.step_id"), "attempt": path("context.attempt")}
    )
    assert seen(plan({"say": step}), {}) == [{"run": "run_test", "step": "say", "attempt": 1}]


def test_inside_a_loop_the_context_has_the_item_and_its_index() -> None:
    document = plan({"each": loop("say"), "say": node(input={"all": path("context")})})
    expected = {"run_id": "run_test", "step_id": "say", "attempt": 1, "x": {"a": 1}, "x_index": 0}
    assert seen(document, {"items": [{"a": 1}]}) == [{"all": expected}]


def test_a_step_may_look_into_the_item() -> None:
    document = plan({"each": each("say"), "say": node(input={"a": path("context.x.a.0")})})
    assert seen(document, {"items": [{"a": [1]}, {"a": [2]}]}) == [{"a": 1}, {"a": 2}]


def test_items_of_all_loops_around_are_there() -> None:
    steps = {
        "rows": {**loop("row"), "as": "row"},
        "row": {**each("say", over="context.row"), "as": "cell"},
        "say": node(input={"r": path("context.row_index"), "c": path("context.cell_index"), "v": path("context.cell")}),
    }
    expected = [{"r": 0, "c": 0, "v": "a"}, {"r": 0, "c": 1, "v": "b"}, {"r": 1, "c": 0, "v": "c"}]
    assert seen(plan(steps), {"items": [["a", "b"], ["c"]]}) == expected


def test_after_a_loop_its_item_is_gone() -> None:
    drive = begin(plan({"each": loop("say", to="say"), "say": node(input={"x": path("context.x")})}), {"items": [1]})
    drive.go()
    assert drive.inputs == [{"x": 1}]
    assert drive.run.error is not None
    assert (drive.run.error.code, drive.run.error.path) == ("path_not_found", ("say",))


def test_without_a_frame_there_is_no_context() -> None:
    view = View({}, Layer({}))
    assert view.context("run_id") is MISSING
    assert view.whole_context() == {}
