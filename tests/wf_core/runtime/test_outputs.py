"""The plan's own output, and what a step's result maps to."""

from typing import Any

import pytest

from tests.wf_core.kernel import ask, begin, error_of, finish, loop, node, path, plan, put, value
from wf_core.errors import StepFailed
from wf_core.runtime.outputs import map_result, require
from wf_core.runtime.program import Mapped
from wf_core.runtime.targets import StateShape
from wf_core.schemas import compile_schema

SAY = {"say": put("state.a", value(1))}
STATE: dict[str, Any] = {"a": {}, "b": {"default": 2}}


def test_output_maps_local_targets_to_expressions() -> None:
    output = {"x.y": path("state.a"), "x.z": {"template": "{{state.b}}"}, "w": path("input")}
    run = finish(plan(SAY, STATE, output=output), {"i": 0})
    assert run.output == {"x": {"y": 1, "z": "2"}, "w": {"i": 0}}


def test_left_out_every_property_of_output_schema_that_state_has_is_copied() -> None:
    schema: Any = {"type": "object", "properties": {"a": {}, "b": {}, "c": {}}}
    assert finish(plan(SAY, {**STATE, "hidden": {"default": 3}}, output_schema=schema)).output == {"a": 1, "b": 2}


def test_left_out_without_an_output_schema_there_is_nothing_to_copy() -> None:
    assert finish(plan(SAY, STATE)).output == {}
    assert finish(plan(SAY, STATE, output_schema=True)).output == {}


def test_an_empty_output_is_an_empty_object() -> None:
    schema: Any = {"properties": {"a": {}}}
    assert finish(plan(SAY, STATE, output={}, output_schema=schema)).output == {}


def test_the_output_may_be_any_payload() -> None:
    assert finish(plan(SAY, STATE, output={".": path("state.b")}, output_schema={"type": "integer"})).output == 2


def test_the_output_may_say_which_run_it_is_of() -> None:
    assert finish(plan(SAY, STATE, output={"run": path("context.run_id")})).output == {"run": "run_test"}


def test_an_output_that_does_not_fit_is_output_invalid_of_no_step() -> None:
    run = finish(
        plan(SAY, STATE, output={"a": value("text")}, output_schema={"properties": {"a": {"type": "integer"}}})
    )
    assert error_of(run) == ("output_invalid", None)
    assert run.error is not None
    assert (run.error.path, run.outcome, run.output) == ((), None, None)
    problems: Any = run.error.details["problems"]
    assert problems[0]["where"] == "output.a"


def test_an_output_that_reads_what_is_not_there_is_path_not_found_of_no_step() -> None:
    assert error_of(finish(plan(SAY, {**STATE, "gone": {}}, output={"x": path("state.gone")}))) == (
        "path_not_found",
        None,
    )


def test_the_output_is_made_whichever_way_the_workflow_ends() -> None:
    steps = {"ask": ask("__end__", resume={"state.a": "."}), "late": node(to="stop"), "stop": {"type": "end"}}
    drive = begin(plan(steps, STATE, output={"a": path("state.a")}))
    drive.go()
    drive.answer("now")
    assert (drive.run.status, drive.run.output) == ("completed", {"a": "now"})
    assert finish(plan({"stop": steps["stop"]}, STATE, output={"b": path("state.b")})).output == {"b": 2}


def test_the_output_keeps_what_it_was_when_it_was_made() -> None:
    state: Any = {"log": {"type": "array", "default": [], "reducer": "append"}}
    inner = plan({"say": put("state.log", path("input.x"))}, state, output={"log": path("state.log")})
    step = {
        "type": "subgraph",
        "workflow": {"plan": inner},
        "input": {"x": path("context.x")},
        "output": {"state.log": "log"},
        "routes": {"ok": "__end__"},
    }
    document = plan({"each": loop("sub"), "sub": step}, state, output={"log": path("state.log")})
    assert finish(document, {"items": [1, 2]}).output == {"log": [[1], [2]]}


def mapped(source: tuple[str, ...], *, optional: bool = False) -> Mapped:
    return Mapped(StateShape({}).target(("a",)), source, optional)


def test_a_source_that_is_missing_is_path_not_found_naming_source_and_target() -> None:
    with pytest.raises(StepFailed) as caught:
        map_result([mapped(("b", "c d"))], {"b": {}})
    assert caught.value.details == {"path": 'b."c d"', "target": "state.a"}


def test_an_explicit_null_is_not_missing() -> None:
    assert [written for _, written in map_result([mapped(("b",), optional=True)], {"b": None})] == [None]
    assert map_result([mapped(("b",), optional=True)], {}) == []


def test_what_does_not_fit_fails_with_the_code_of_its_place() -> None:
    require("input_invalid", "It", None, 1, "input")
    with pytest.raises(StepFailed) as caught:
        require("input_invalid", "It", compile_schema({"type": "string"}), 1, "input")
    assert (caught.value.code, caught.value.message.startswith("It does not fit")) == ("input_invalid", True)
