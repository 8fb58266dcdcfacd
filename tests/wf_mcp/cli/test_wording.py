"""What a step of a plan does, in a few words."""

from typing import Any

import pytest
from pydantic import TypeAdapter

from wf_core.plan.steps import Step
from wf_mcp.cli.wording import describe

EACH: dict[str, Any] = {"type": "foreach", "over": "input.rows", "as": "row", "routes": {}}
STEP: TypeAdapter[Step] = TypeAdapter(Step)


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ({"type": "node", "use": "files.read", "routes": {}}, "files.read"),
        ({"type": "interrupt", "kind": "approval", "routes": {}}, "asks: approval"),
        ({"type": "interrupt", "kind": "a", "answered_by": "person", "routes": {}}, "asks: a, a person answers"),
        ({"type": "end", "outcome": "late"}, "ends: late"),
        (EACH, "for each row of input.rows, one by one"),
        (EACH | {"mode": "concurrent", "max_active": 9}, "for each row of input.rows, 9 at once"),
        (EACH | {"on_item_error": "skip"}, "for each row of input.rows, one by one, failed ones are skipped"),
        (
            EACH | {"on_item_error": {"collect_to": "state.errors"}},
            "for each row of input.rows, one by one, failed ones go to state.errors",
        ),
        ({"type": "parallel", "branches": {"a": "x", "b": "y"}, "routes": {}}, "at once: a, b"),
        ({"type": "subgraph", "workflow": {"artifact_id": "check", "version": 2}, "routes": {}}, "runs check 2"),
        ({"type": "subgraph", "workflow": {"plan": {}}, "routes": {}}, "runs the plan inside it"),
    ],
)
def test_a_step_in_a_few_words(step: dict[str, Any], words: str) -> None:
    assert describe(STEP.validate_python(step)) == words


def test_a_question_is_written_as_it_would_be_asked() -> None:
    check: dict[str, Any] = {
        "op": "and",
        "args": [
            {"op": "not", "arg": {"op": "exists", "path": "input.x"}},
            {"op": "ge", "left": {"path": "state.n"}, "right": {"value": 3}},
            {"op": "in", "left": {"template": "{{input.y}}"}, "right": {"array": [{"value": 1}]}},
        ],
    }
    words = describe(STEP.validate_python({"type": "condition", "check": check, "routes": {}}))
    assert words == 'if (not (input.x exists)) and (state.n ≥ 3) and ("{{input.y}}" in […])'
