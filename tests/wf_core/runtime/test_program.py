"""Compiling a plan: once, for any number of runs."""

from typing import Any

import pytest
from pydantic import ValidationError

from tests.wf_core.kernel import LIST, NOW, child, loop, node, path, plan, put
from wf_core.calls.contract import Contract
from wf_core.errors import InvalidPath, InvalidSchema
from wf_core.runtime import compile_program, next_work, start
from wf_core.runtime.program import NodeCode, SubgraphCode

CONTRACTS = {"t.echo": Contract()}


def test_a_program_holds_no_runs_data() -> None:
    document = plan({"each": loop("note"), "note": put("state.seen", path("context.x"))}, {"seen": LIST})
    program = compile_program(document, contracts=CONTRACTS)
    runs = [start(program, run_id=f"run_{number}", input={"items": [number]}) for number in range(3)]
    for run in runs:
        next_work(program, run, now=NOW)
    assert [call.input for run in runs for call in run.calls.values()] == [{"value": 0}, {"value": 1}, {"value": 2}]


def test_a_capability_without_a_contract_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        compile_program(plan({"say": node("t.unknown")}), contracts=CONTRACTS)


def test_a_child_that_is_not_given_is_a_key_error() -> None:
    step = {**child({}), "workflow": {"artifact_id": "gone", "version": 1}}
    with pytest.raises(KeyError):
        compile_program(plan({"sub": step}), contracts=CONTRACTS)


@pytest.mark.parametrize(
    ("document", "error"),
    [
        (plan({"say": {"type": "nothing"}}), ValidationError),
        (plan({"say": node(input={"a": path("nowhere.a")})}), InvalidPath),
        (plan({"say": node(output={"state": "a"})}), InvalidPath),
        (plan({"say": node()}, input_schema={"type": "nothing"}), InvalidSchema),
    ],
)
def test_a_plan_that_does_not_validate_is_refused(document: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        compile_program(document, contracts=CONTRACTS)


def test_a_saved_child_is_compiled_once_however_many_steps_run_it() -> None:
    """Each level runs the one below twice: compiled anew each time, twenty levels would be a million plans."""
    children: dict[tuple[str, int], Any] = {("c0", 1): plan({"say": node()})}
    for level in range(1, 21):
        step = {**child({}), "workflow": {"artifact_id": f"c{level - 1}", "version": 1}}
        children[f"c{level}", 1] = plan({"one": {**step, "routes": {"ok": "two"}}, "two": step})
    program = compile_program(children["c20", 1], contracts=CONTRACTS, children=children)
    one, two = program.steps["one"], program.steps["two"]
    assert isinstance(one, SubgraphCode)
    assert isinstance(two, SubgraphCode)
    assert one.child is two.child


def test_a_child_is_found_by_the_steps_that_lead_to_it() -> None:
    inner = plan({"say": node()})
    program = compile_program(plan({"a": child(plan({"b": child(inner)}))}), contracts=CONTRACTS)
    assert isinstance(program.at(("a", "b")).steps["say"], NodeCode)
    assert program.at(()) is program
    for wrong in (("b",), ("a", "b", "say"), ("a", "c")):
        with pytest.raises(KeyError):
            program.at(wrong)


def test_capabilities_share_their_compiled_contracts() -> None:
    contract = Contract(input_schema={"type": "object"})
    program = compile_program(plan({"a": node(to="b"), "b": node()}), contracts={"t.echo": contract})
    a, b = program.steps["a"], program.steps["b"]
    assert isinstance(a, NodeCode)
    assert isinstance(b, NodeCode)
    assert a.input_check is not None
    assert a.input_check is b.input_check
