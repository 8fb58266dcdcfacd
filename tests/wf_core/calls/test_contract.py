"""What a capability promises, and which part of it counts."""

from typing import Any

import pytest

from wf_core.calls.contract import Contract, Hints, essence, essential


def test_without_hints_the_worst_is_assumed() -> None:
    hints = Contract().hints
    assert not hints.repeatable
    assert hints.destructive


@pytest.mark.parametrize(
    ("hints", "repeatable"),
    [
        (Hints(), False),
        (Hints(read_only=True), True),
        (Hints(idempotent=True), True),
        (Hints(destructive=False), False),
    ],
)
def test_only_what_changes_nothing_or_nothing_more_may_be_repeated(hints: Hints, repeatable: bool) -> None:
    assert hints.repeatable is repeatable


def test_without_schemas_anything_goes_in_and_out() -> None:
    contract = Contract()
    assert (contract.input_schema, contract.output_schema, contract.outcomes) == ({}, {}, ("ok",))
    assert not contract.deferred


@pytest.mark.parametrize(
    ("schema", "left"),
    [
        (True, True),
        ({"title": "T", "description": "D", "examples": [1], "$comment": "C", "type": "string"}, {"type": "string"}),
        ({"anyOf": [{"title": "T", "type": "null"}, True]}, {"anyOf": [{"type": "null"}, True]}),
        ({"items": {"items": {"description": "D"}}}, {"items": {"items": {}}}),
        (
            {"properties": {"title": {"title": "T", "type": "string"}, "description": True}},
            {"properties": {"title": {"type": "string"}, "description": True}},
        ),
        ({"$defs": {"examples": {"examples": [1]}}}, {"$defs": {"examples": {}}}),
        ({"required": ["title"]}, {"required": ["title"]}),
        ({"const": {"title": 1}, "enum": [{"title": 2}], "default": {"title": 3}},) * 2,
        ({"dependentRequired": {"title": ["description"]}},) * 2,
    ],
)
def test_what_only_describes_is_left_out_at_every_depth(schema: Any, left: Any) -> None:
    assert essential(schema) == left


def test_other_keywords_can_be_left_out_instead() -> None:
    schema = {"default": 1, "title": "T", "properties": {"default": {"default": 2}}}
    assert essential(schema, {"default"}) == {"title": "T", "properties": {"default": {}}}


def test_the_schema_itself_stays_as_it_was() -> None:
    schema = {"title": "T", "items": {"title": "I"}}
    essential(schema)
    assert schema == {"title": "T", "items": {"title": "I"}}


def test_a_contract_has_changed_where_its_schemas_or_outcomes_have() -> None:
    plain = Contract(input_schema={"type": "object"}, hints=Hints(read_only=True))
    described = Contract(input_schema={"type": "object", "description": "What to read."})
    assert essence(plain) == essence(described)
    assert essence(plain) != essence(Contract(input_schema={"type": "object"}, outcomes=("ok", "error")))
    assert essence(plain) != essence(Contract(input_schema={"type": "object"}, output_schema={"type": "null"}))
