"""Reading whole plans: everything at once, whatever the document is."""

import copy
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.wf_core.validation.plans import (
    Document,
    ask,
    by_source,
    child,
    condition,
    each,
    errors,
    node,
    plan,
    warnings,
)
from wf_core.calls.contract import Contract
from wf_core.jsonvalue import MAX_DEPTH
from wf_core.plan import NodeStep
from wf_core.runtime import compile_program
from wf_core.validation import read_plan, required_capabilities
from wf_core.validation.read import MAX_PLANS

CONTRACTS = {"ops.make": Contract(outcomes=("ok", "error"))}

EVERYTHING: Document = plan(
    description="One of everything.",
    input_schema={"type": "object", "properties": {"items": {"type": "array"}}, "additionalProperties": False},
    state_schema={"properties": {"a": {}, "log": {"type": "array", "default": [], "reducer": "append"}}},
    output_schema={"properties": {"log": {"type": "array"}}},
    initial_state={"state.a": {"object": {"first": {"path": "input.items.0", "default": None}}}},
    outcomes=["ok", "refused"],
    steps={
        "one": node(routes={"ok": "check", "error": "stop"}, error_output={"state.log": "message"}, timeout_seconds=2.5,
                    retry={"max_attempts": 2, "on": "any"}),
        "check": {**condition({"op": "and", "args": [
            {"op": "exists", "path": "state.a"},
            {"op": "not", "arg": {"op": "matches", "left": {"template": "{{state.a}}"}, "right": {"value": "^x"}}},
        ]}), "routes": {"true": "loop", "false": "ask"}},
        "loop": each(mode="concurrent", on_item_error={"collect_to": "state.log"},
                     routes={"loop": "body", "done": "ask", "completed_with_errors": "stop"}),
        "body": node(input={"value": {"array": [{"path": "context.item"}]}}, output={"state.log": "value"}),
        "ask": ask(request={"log": {"path": "state.log"}}, resume={"state.a": {"source": "text", "optional": True}},
                   outcomes=["yes", "no"], outcome_schemas={"no": True}, routes={"yes": "inner", "no": "stop"}),
        "inner": child({"plan": plan(name="inner")}, input={"x": {"value": 1}}, routes={"ok": "meet"}),
        "meet": {"type": "join", "routes": {"ok": "__end__"}},
        "stop": {"type": "end", "outcome": "refused"},
    },
    output={"log": {"path": "state.log"}},
    limits={"max_steps": 100},
)  # fmt: skip

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5)
    | st.sampled_from(
        ["one", "loop", "__end__", "__break__", "state.a", "input", ".", "node", "ops.make", "{{x", 10**400]
    )
)
KEYS = st.text(max_size=5) | st.sampled_from(
    [
        "type",
        "steps",
        "routes",
        "path",
        "value",
        "object",
        "array",
        "op",
        "args",
        "$ref",
        "properties",
        "plan",
        "ok",
        "loop",
    ]
)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=10
)


def test_a_plan_with_one_of_everything_has_no_issue() -> None:
    report = read_plan(EVERYTHING, sources=by_source(CONTRACTS))
    assert report.issues == []
    assert report.valid


def test_a_valid_plan_is_given_as_records() -> None:
    read = read_plan(plan()).plan
    assert read is not None
    assert isinstance(read.steps["one"], NodeStep)


def test_an_invalid_plan_is_not_given() -> None:
    report = read_plan(plan(start="nowhere"))
    assert not report.valid
    assert report.plan is None


def test_missing_key_of_an_empty_plan() -> None:
    assert errors({}) == [("missing_key", "")] * 3


@pytest.mark.parametrize("document", [None, 5, "plan", [], True])
def test_invalid_type_of_what_is_no_object(document: object) -> None:
    assert errors(document) == [("invalid_type", "")]


def test_invalid_type_of_what_is_no_json_names_the_place() -> None:
    (issue,) = read_plan(plan(steps={"one": node(input={"value": {"value": float("nan")}})})).issues
    assert issue.code == "invalid_type"
    assert "plan.steps.one.input.value.value: NaN" in issue.message


def test_unknown_output_field() -> None:
    schema: Document = {"properties": {"o": {}}, "additionalProperties": False}
    document = plan(output_schema=schema, output={"p": {"path": "state.a"}, "o.x": {"value": 1}})
    assert errors(document) == [("unknown_output_field", "/output/p")]
    assert errors(plan(output_schema={"properties": {"o": {}}}, output={"p": {"value": 1}})) == []


def test_unused_state_field_is_a_warning() -> None:
    document = plan(state_schema={"properties": {"a": {}, "idle": {}}})
    assert warnings(document) == [("unused_state_field", "/state_schema/properties/idle")]
    assert read_plan(document).valid


@pytest.mark.parametrize(
    "fields",
    [
        {"output": {"x": {"path": "state"}}},
        {"output": {"x": {"template": "{{state.idle}}"}}},
        {"output_schema": {"properties": {"idle": {}}}},
        {"initial_state": {"state.idle": {"value": 1}}},
    ],
)
def test_a_state_field_that_is_read_written_or_copied_is_used(fields: Document) -> None:
    assert warnings(plan(state_schema={"properties": {"a": {}, "idle": {}}}, **fields)) == []


def test_a_plan_in_place_is_checked_with_its_place() -> None:
    inner = plan(start="oen", steps={"one": node(output={"state.b": "x"}), "two": node()})
    document = plan(steps={"one": child({"plan": inner})})
    prefix = "/steps/one/workflow/plan"
    assert set(errors(document)) == {
        ("unknown_start", f"{prefix}/start"),
        ("unknown_state_field", f"{prefix}/steps/one/output/state.b"),
    }


def test_a_plan_in_place_does_not_see_the_loops_around_it() -> None:
    inner = plan(steps={"one": node(input={"value": {"path": "context.item"}})})
    document = plan(start="loop", steps={"loop": each(), "body": child({"plan": inner})})
    assert errors(document) == [("invalid_path", "/steps/body/workflow/plan/steps/one/input/value/path")]


def test_a_plan_in_place_that_is_none_is_refused() -> None:
    assert errors(plan(steps={"one": child({"plan": 5})})) == [("invalid_type", "/steps/one/workflow/plan")]
    assert ("missing_key", "/steps/one/workflow/plan") in errors(plan(steps={"one": child({"plan": {}})}))


def test_invalid_type_of_plans_that_nest_too_deeply() -> None:
    document = plan()
    for _ in range(MAX_PLANS):
        document = plan(steps={"one": child({"plan": document})})
    assert [code for code, _ in errors(document)] == ["invalid_type"]
    assert errors(document["steps"]["one"]["workflow"]["plan"]) == []


@pytest.mark.parametrize("levels", [33, 60, MAX_DEPTH, 5000])
def test_a_document_of_any_depth_gives_a_report(levels: int) -> None:
    expression: Document = {"value": 1}
    check: Document = {"op": "exists", "path": "state.a"}
    schema: Document = {}
    for _ in range(levels):
        expression = {"array": [expression]}
        check = {"op": "not", "arg": check}
        schema = {"properties": {"a": schema}}
    for document in (
        plan(steps={"one": node(input={"value": expression})}),
        plan(steps={"one": condition(check)}),
        plan(output={"x": expression}),
    ):
        assert errors(document) != []
    assert read_plan(plan(state_schema=schema)).valid is (levels < 64)


@given(JSON)
@settings(max_examples=200, deadline=None)
def test_any_json_gives_a_report(document: Any) -> None:
    read_plan(document)


@given(st.data())
@settings(max_examples=400, deadline=None)
def test_a_mutated_plan_gives_a_report_and_compiles_where_it_is_valid(data: st.DataObject) -> None:
    document = copy.deepcopy(EVERYTHING)
    for _ in range(data.draw(st.integers(1, 3))):
        _mutate(document, data)
    report = read_plan(document, sources=by_source(CONTRACTS))
    if report.plan is None:
        assert not report.valid
        return
    called = required_capabilities(report.plan)
    compile_program(document, contracts={name: CONTRACTS.get(name, Contract()) for name in called})


def _mutate(document: Document, data: st.DataObject) -> None:
    """Replace, remove, or add something somewhere in a document."""
    current: Any = document
    while current:
        keys = _keys(current)
        key: Any = data.draw(st.sampled_from(keys))
        inner: Any = current[key]
        if isinstance(inner, dict | list) and data.draw(st.integers(0, 4)):
            current = cast("Any", inner)
            continue
        change = data.draw(st.sampled_from(["replace", "remove", "rename", "add"]))
        if change == "replace":
            current[key] = data.draw(JSON)
        elif change == "remove":
            del current[key]
        elif isinstance(current, dict):
            members = cast("Document", current)
            members[data.draw(KEYS)] = members.pop(key) if change == "rename" else data.draw(JSON)
        return


def _keys(value: object) -> list[Any]:
    return list(cast("Document", value)) if isinstance(value, dict) else list(range(len(cast("list[Any]", value))))
