"""What a plan uses of its capabilities, and what of a changed contract touches that."""

from dataclasses import replace
from typing import Any

import pytest

from tests.wf_core.validation.plans import Document, child, node, plan
from wf_core.calls.contract import Contract, Hints
from wf_core.plan import WorkflowPlan
from wf_core.validation import Issue, required_capabilities
from wf_core.validation.drift import called_capabilities, drift, effective, usage

PINNED = Contract(
    input_schema={"properties": {"value": {"type": "string"}, "more": {"type": "integer"}}, "required": ["value"]},
    output_schema={"properties": {"value": {"type": "string"}, "other": {"type": "integer"}}, "required": ["value"]},
    outcomes=("ok", "error"),
)


def compare(live: Contract, **fields: Any) -> list[Issue]:
    """Compare with the pinned contract as a plan of one node uses it."""
    document = plan(steps={"one": node(**fields)})
    return drift(usage(WorkflowPlan.model_validate(document))["ops.make"], PINNED, live)


def changed(*, inputs: Document | None = None, outputs: Document | None = None, **fields: Any) -> Contract:
    """Give the pinned contract with some fields and properties changed; None takes a property out."""
    input_schema = _changed(PINNED.input_schema, inputs or {})
    output_schema = _changed(PINNED.output_schema, outputs or {})
    return replace(PINNED, **{"input_schema": input_schema, "output_schema": output_schema, **fields})


def _changed(schema: Any, changes: Document) -> Document:
    properties = {**schema["properties"], **changes}
    return {**schema, "properties": {name: value for name, value in properties.items() if value is not None}}


@pytest.mark.parametrize(
    "live",
    [
        PINNED,
        changed(inputs={"value": {"type": "string", "title": "Text", "description": "What to say."}}),
        changed(outputs={"value": {"examples": ["x"], "$comment": "…", "type": "string"}}),
        changed(hints=Hints(read_only=True, idempotent=True, destructive=False)),
    ],
)
def test_what_only_describes_is_no_drift(live: Contract) -> None:
    assert compare(live) == []


@pytest.mark.parametrize(
    "live",
    [
        changed(inputs={"more": {"type": "string"}}),
        changed(inputs={"more": None}),
        changed(inputs={"new": {"type": "string"}}),
        changed(inputs={"value": {"type": "string", "maxLength": 10}}),
        changed(outputs={"other": {"type": "string"}}),
        changed(outputs={"new": {"type": "string"}}),
        changed(outcomes=("ok",)),
    ],
)
def test_a_change_that_touches_nothing_of_the_plan_is_a_warning(live: Contract) -> None:
    (issue,) = compare(live)
    assert (issue.severity, issue.code) == ("warning", "contract_changed")


@pytest.mark.parametrize(
    ("live", "place"),
    [
        (changed(inputs={"value": {"type": "integer"}}), "input"),
        (changed(inputs={"value": None}), "input"),
        (changed(inputs={"value": {"type": ["string", "null"]}}), "input"),
        (changed(outputs={"value": {"type": "string", "maxLength": 10}}), "output"),
        (changed(outputs={"value": None}), "output"),
        (changed(outcomes=("ok", "rejected")), "routes"),
    ],
)
def test_a_change_of_what_the_plan_uses_is_breaking(live: Contract, place: str) -> None:
    (issue,) = compare(live)
    assert (issue.severity, issue.code, issue.path) == ("error", "contract_changed", f"/steps/one/{place}")


def test_a_new_required_input_is_breaking_where_it_is_not_filled() -> None:
    schema = {**_changed(PINNED.input_schema, {"new": {"type": "string"}}), "required": ["value", "new"]}
    live = changed(input_schema=schema)
    (issue,) = compare(live)
    assert "`new`" in issue.message
    assert issue.severity == "error"
    filled = node(input={"value": {"value": "x"}, "new": {"value": "y"}})
    assert all(issue.severity == "error" for issue in compare(live, input=filled["input"]))


def test_an_input_that_is_built_as_a_whole_uses_every_property() -> None:
    whole: Document = {".": {"path": "input"}}
    assert compare(changed(inputs={"more": {"type": "string"}}), input=whole)[0].severity == "error"
    assert compare(changed(inputs={"new": {"type": "string"}}), input=whole)[0].severity == "warning"


def test_an_output_that_is_read_as_a_whole_uses_everything() -> None:
    assert compare(changed(outputs={"new": {}}), output={"state.a": "."})[0].severity == "error"


def test_an_output_that_is_no_longer_certain_is_breaking_unless_it_may_be_missing() -> None:
    live = changed(output_schema={**_changed(PINNED.output_schema, {}), "required": []})
    assert compare(live)[0].severity == "error"
    assert compare(live, output={"state.a": {"source": "value", "optional": True}})[0].severity == "warning"


def test_a_changed_definition_counts_where_it_is_referred_to() -> None:
    def contract(kind: str) -> Contract:
        schema = {"properties": {"value": {"items": {"$ref": "#/$defs/x"}}}, "$defs": {"x": {"type": kind}}}
        return Contract(output_schema=schema)

    used = usage(WorkflowPlan.model_validate(plan()))["ops.make"]
    assert drift(used, contract("string"), contract("string")) == []
    assert [issue.severity for issue in drift(used, contract("string"), contract("integer"))] == ["error"]


def test_every_use_of_a_capability_counts() -> None:
    second = node(input={"more": {"value": 1}}, output={})
    document = plan(steps={"one": node(routes={"ok": "two"}), "two": second})
    used = usage(WorkflowPlan.model_validate(document))["ops.make"]
    found = drift(used, PINNED, changed(inputs={"more": {"type": "string"}}))
    assert [issue.path for issue in found] == ["/steps/two/input"]


def test_uses_in_a_plan_in_place_count_with_their_place() -> None:
    inner = plan(steps={"one": node(use="files.read_text")})
    document = WorkflowPlan.model_validate(plan(steps={"one": child({"plan": inner}), "two": node()}))
    assert required_capabilities(document) == ["files.read_text", "ops.make"]
    (issue,) = drift(usage(document)["files.read_text"], PINNED, changed(outputs={"value": None}))
    assert issue.path == "/steps/one/workflow/plan/steps/one/output"


def test_what_is_called_keeps_source_and_capability_apart() -> None:
    steps: Document = {"a": node(use="up.fs.read"), "b": node(use={"source": "up", "capability": "fs.read"})}
    document = WorkflowPlan.model_validate(plan(steps=steps, start="a"))
    called = {(reference.source, reference.capability) for reference in called_capabilities(document)}
    assert called == {("up.fs", "read"), ("up", "fs.read")}


def test_after_drift_the_live_output_and_the_more_cautious_hints_count() -> None:
    pinned = changed(hints=Hints(read_only=True, idempotent=False, destructive=False), deferred=True)
    live = changed(
        outputs={"new": {}}, outcomes=("ok",), hints=Hints(read_only=False, idempotent=True, destructive=True)
    )
    judged = effective(pinned, live)
    assert judged.input_schema == pinned.input_schema
    assert (judged.output_schema, judged.outcomes) == (live.output_schema, ("ok",))
    assert judged.hints == Hints(read_only=False, idempotent=False, destructive=True)
    assert judged.deferred
