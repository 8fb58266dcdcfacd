"""A plan drawn for a terminal and for Mermaid."""

from typing import Any

from wf_core.plan import WorkflowPlan
from wf_mcp.cli.drawing import draw, mermaid

PLAN: dict[str, Any] = {
    "name": "review",
    "outcomes": ["ok", "rejected"],
    "start": "read",
    "steps": {
        "read": {"type": "node", "use": "notes.read", "routes": {"ok": "long"}},
        "long": {
            "type": "condition",
            "check": {"op": "ge", "left": {"path": "input.n"}, "right": {"value": 3}},
            "routes": {"true": "ask", "false": "again"},
        },
        "ask": {
            "type": "interrupt",
            "kind": "approval",
            "answered_by": "person",
            "outcomes": ["yes", "no"],
            "routes": {"yes": "__end__", "no": "stop"},
        },
        "stop": {"type": "end", "outcome": "rejected"},
        "again": {"type": "join", "routes": {"ok": "read"}},
    },
}


def drawn(plan: dict[str, Any]) -> list[str]:
    lines = draw(WorkflowPlan.model_validate(plan))
    return [line.indent + (f"{line.step_id}: " if line.step_id else "") + line.text for line in lines]


def test_steps_follow_each_other_downward_and_branches_open_to_the_right() -> None:
    assert drawn(PLAN) == [
        "read: notes.read",
        "↓ ok",
        "long: if input.n ≥ 3",
        "├─ true",
        "│  ask: asks: approval, a person answers",
        "│  ├─ yes ■ end",
        "│  └─ no",
        "│     stop: ends: rejected",
        "└─ false",
        "   again: join",
        "   ↓ ok",
        "   → read",
    ]


def test_a_long_chain_of_conditions_is_drawn() -> None:
    """Deeper than Python's own stack."""
    steps: dict[str, Any] = {
        f"s{n}": {
            "type": "condition",
            "check": {"op": "exists", "path": "input.x"},
            "routes": {"true": f"s{n + 1}", "false": "__end__"},
        }
        for n in range(1200)
    }
    steps["s1200"] = {"type": "end"}

    lines = draw(WorkflowPlan.model_validate({"name": "deep", "start": "s0", "steps": steps}))

    assert {line.step_id for line in lines} >= {"s0", "s1199", "s1200"}


def test_mermaid_names_steps_by_number_and_escapes_what_they_say() -> None:
    plan = {
        "name": "quotes",
        "start": "ask",
        "steps": {"ask": {"type": "interrupt", "kind": 'say "hi" [now]', "routes": {"submitted": "__end__"}}},
    }

    text = mermaid(WorkflowPlan.model_validate(plan))

    assert text.splitlines()[:2] == ["flowchart TD", "  begin((start)) --> s0"]
    assert "#34;hi#34; #91;now#93;" in text
    assert '  s0 -- "submitted" --> __end__' in text
