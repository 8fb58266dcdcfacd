"""The two spellings of each reference."""

from typing import Any

import pytest
from pydantic import ValidationError

from wf_core.plan.refs import CapabilityRef, WorkflowRef


def test_a_capability_is_split_at_the_last_dot() -> None:
    reference = CapabilityRef.model_validate("wf.std.constant")
    assert (reference.source, reference.capability) == ("wf.std", "constant")
    assert str(reference) == "wf.std.constant"


def test_a_capability_with_a_dot_is_written_as_an_object() -> None:
    reference = CapabilityRef.model_validate({"source": "files", "capability": "read.text"})
    assert (reference.source, reference.capability) == ("files", "read.text")


@pytest.mark.parametrize("text", ["", "constant", ".constant", "wf.", "."])
def test_a_text_without_source_or_capability_is_refused(text: str) -> None:
    with pytest.raises(ValidationError, match=r"source\.capability"):
        CapabilityRef.model_validate(text)


def test_the_schema_of_a_capability_allows_both_spellings() -> None:
    text, record = CapabilityRef.model_json_schema()["anyOf"]
    assert text["type"] == "string"
    assert set(record["properties"]) == {"source", "capability"}


@pytest.mark.parametrize("document", [{"artifact_id": "a", "version": 1}, {"plan": {}}])
def test_a_workflow_is_an_artifact_version_or_a_plan(document: dict[str, Any]) -> None:
    assert WorkflowRef.model_validate(document).model_dump(exclude_unset=True) == document


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"artifact_id": "a"},
        {"version": 1},
        {"artifact_id": "a", "version": 0},
        {"artifact_id": "a", "version": 1, "plan": {}},
    ],
)
def test_any_other_combination_is_refused(document: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        WorkflowRef.model_validate(document)
