"""A contract's digest changes when what a plan can use of it does, and only then."""

from typing import Any

import pytest

from wf_artifacts.sources.models import Capability, contract_digest
from wf_core.calls.contract import Contract, Hints

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"title": {"type": "string"}, "n": {"enum": [1, {"title": "data"}]}},
    "required": ["title"],
    "$defs": {"description": {"type": "array", "items": {"type": "integer"}}},
}
DIGEST = contract_digest(Contract(input_schema=SCHEMA))


def changed(**keywords: Any) -> str:
    return contract_digest(Contract(input_schema=SCHEMA | keywords))


@pytest.mark.parametrize(
    "keywords",
    [
        {"title": "T", "description": "D", "examples": [1], "$comment": "C"},
        {"properties": {"n": SCHEMA["properties"]["n"], "title": {"description": "D", "type": "string"}}},
        {"$defs": {"description": {"type": "array", "items": {"title": "T", "type": "integer"}}}},
        {"properties": dict(reversed(SCHEMA["properties"].items()))},
    ],
)
def test_what_only_describes_does_not_count(keywords: dict[str, Any]) -> None:
    assert changed(**keywords) == DIGEST


@pytest.mark.parametrize(
    "keywords",
    [
        {"properties": {"n": SCHEMA["properties"]["n"]}},
        {"properties": {**SCHEMA["properties"], "n": {"enum": [1, {"title": "other"}]}}},
        {"required": []},
        {"$defs": {}},
        {"additionalProperties": False},
    ],
)
def test_what_a_plan_can_use_counts_also_under_the_name_of_a_description(keywords: dict[str, Any]) -> None:
    assert changed(**keywords) != DIGEST


def test_outcomes_and_output_count_and_hints_do_not() -> None:
    contracts = [
        Contract(input_schema=SCHEMA, outcomes=("ok", "error")),
        Contract(input_schema=SCHEMA, output_schema={"type": "null"}),
        Contract(output_schema=SCHEMA),
        Contract(input_schema=SCHEMA),
    ]
    assert len({contract_digest(contract) for contract in contracts}) == len(contracts)
    assert contract_digest(Contract(input_schema=SCHEMA, hints=Hints(read_only=True))) == DIGEST


def test_a_schema_that_accepts_everything_has_a_digest() -> None:
    assert contract_digest(Contract(input_schema=True)) != contract_digest(Contract(input_schema=False))


def test_a_capability_has_a_full_name() -> None:
    capability = Capability("files.local", "read", "Read", "", Contract(), contract_digest(Contract()))
    assert capability.full_name == "files.local.read"
