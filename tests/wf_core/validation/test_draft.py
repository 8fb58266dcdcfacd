"""What can still be read of a plan with faults."""

import pytest

from tests.wf_core.validation.plans import errors, node, plan
from wf_core.validation.draft import read_draft
from wf_core.validation.report import Findings


def test_a_shape_error_in_one_step_hides_nothing_of_the_others() -> None:
    steps = {"one": node(routes={"ok": 5}), "two": node(routes={"ok": "nowhere"}), "three": node(inptu={})}
    assert set(errors(plan(steps=steps))) == {
        ("invalid_type", "/steps/one/routes/ok"),
        ("unknown_route_target", "/steps/two/routes/ok"),
        ("unknown_key", "/steps/three/inptu"),
    }


def test_a_fault_of_the_plan_hides_nothing_of_its_steps() -> None:
    document = plan(state_schema=5, outcomes=3, steps={"one": node(routes={"ok": "nowhere"})})
    assert set(errors(document)) == {
        ("invalid_type", "/state_schema"),
        ("invalid_type", "/outcomes"),
        ("unknown_route_target", "/steps/one/routes/ok"),
    }


def test_unread_fields_and_steps_are_known() -> None:
    draft = read_draft({**plan(start=1), "steps": {"one": node(), "two": node(use=1)}}, Findings())
    assert draft.start is None
    assert draft.unread == {"start"}
    assert set(draft.steps) == {"one"}
    assert set(draft.written) == {"one", "two"}
    assert not draft.all_steps_read


def test_a_whole_draft_gives_the_plan() -> None:
    found = Findings()
    document = plan()
    draft = read_draft(document, found)
    assert found.issues == []
    assert draft.all_steps_read
    assert draft.plan().model_dump(exclude_unset=True, by_alias=True)["steps"]["one"]["routes"] == {"ok": "__end__"}


@pytest.mark.parametrize("step_id", ["a b", "1a", "", "a.b", "__end__", "__break__"])
def test_invalid_type_of_a_wrong_step_id(step_id: str) -> None:
    assert ("invalid_type", f"/steps/{step_id}") in errors(plan(start=step_id, steps={step_id: node()}))


@pytest.mark.parametrize(
    ("step", "code", "path"),
    [
        (5, "invalid_type", ""),
        ({}, "missing_key", ""),
        ({"type": "nod"}, "invalid_type", "/type"),
        ({"type": ["node"]}, "invalid_type", "/type"),
    ],
)
def test_a_step_without_a_known_type(step: object, code: str, path: str) -> None:
    assert (code, f"/steps/one{path}") in errors(plan(steps={"one": step}))


@pytest.mark.parametrize("steps", [[], None, "one"])
def test_steps_that_are_no_object(steps: object) -> None:
    assert ("invalid_type", "/steps") in errors(plan(steps=steps))
