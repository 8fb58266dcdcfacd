"""Conditions as their authors write them."""

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from wf_core.plan.bindings import ValueExpression
from wf_core.plan.conditions import OPERATORS, Compare, Condition, Exists, Logic, Not

CONDITION: TypeAdapter[Any] = TypeAdapter(Condition)
EXISTS = {"op": "exists", "path": "state.a"}
SIDES = {"left": {"value": 1}, "right": {"value": 2}}


def test_conditions_nest() -> None:
    document = {"op": "and", "args": [EXISTS, {"op": "not", "arg": {"op": "eq", **SIDES}}]}
    exists = Exists(op="exists", path="state.a")
    equal = Compare(op="eq", left=ValueExpression(value=1), right=ValueExpression(value=2))
    assert CONDITION.validate_python(document) == Logic(op="and", args=[exists, Not(op="not", arg=equal)])


@pytest.mark.parametrize("op", OPERATORS)
def test_every_operator_is_read(op: str) -> None:
    arguments: dict[str, Any] = {
        "exists": {"path": "state.a"},
        "not": {"arg": EXISTS},
        "and": {"args": []},
        "or": {"args": []},
    }
    assert CONDITION.validate_python({"op": op, **arguments.get(op, SIDES)}).op == op


@pytest.mark.parametrize(
    "document", [{"op": "equals", **SIDES}, {"op": 1, **SIDES}, {"op": [], **SIDES}, SIDES, "eq", None]
)
def test_an_unknown_operator_is_refused(document: object) -> None:
    with pytest.raises(ValidationError, match="op"):
        CONDITION.validate_python(document)
