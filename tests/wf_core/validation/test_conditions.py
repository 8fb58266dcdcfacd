"""The questions of condition steps."""

from typing import Any

import pytest

from tests.wf_core.validation.plans import Document, condition, errors, plan
from wf_core.validation.bindings import MAX_NESTING


def check(document: Any) -> list[tuple[str, str]]:
    """Give the errors of a plan that asks a question, with places from the question on."""
    prefix = "/steps/one/check"
    return [(code, path.removeprefix(prefix)) for code, path in errors(plan(steps={"one": condition(document)}))]


EXISTS: Document = {"op": "exists", "path": "input.x"}


def test_the_paths_of_every_part_are_checked() -> None:
    nowhere = {"path": "nowhere"}
    compare = {"op": "eq", "left": nowhere, "right": {"array": [nowhere]}}
    document = {"op": "and", "args": [{"op": "not", "arg": {"op": "exists", "path": "nowhere"}}, compare, EXISTS]}
    assert set(check(document)) == {
        ("invalid_path", "/args/0/arg/path"),
        ("invalid_path", "/args/1/left/path"),
        ("invalid_path", "/args/1/right/array/0/path"),
    }


@pytest.mark.parametrize("pattern", ["(", "(?=a)", r"(a)\1"])
def test_invalid_schema_of_a_pattern_that_cannot_be_matched_in_linear_time(pattern: str) -> None:
    document = {"op": "matches", "left": {"path": "input.x"}, "right": {"value": pattern}}
    assert check(document) == [("invalid_schema", "/right/value")]


@pytest.mark.parametrize("right", [{"value": "^a+$"}, {"path": "input.pattern"}])
def test_a_pattern_that_can_be_matched_or_is_not_known_yet(right: Document) -> None:
    assert check({"op": "matches", "left": {"path": "input.x"}, "right": right}) == []


def nested(levels: int) -> Document:
    document = EXISTS
    for _ in range(levels - 1):
        document = {"op": "not", "arg": document}
    return document


def test_invalid_type_of_conditions_that_nest_too_deeply() -> None:
    assert check(nested(MAX_NESTING)) == []
    assert [code for code, _ in check(nested(MAX_NESTING + 1))] == ["invalid_type"]
    assert [code for code, _ in check(nested(150))] == ["invalid_type"]
