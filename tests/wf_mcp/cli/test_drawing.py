"""A plan drawn for a terminal."""

from typing import Any

from tests.wf_mcp.cli.plans import NESTED, SAVED
from wf_core.plan import WorkflowPlan
from wf_mcp.cli.bodies import SavedPlans
from wf_mcp.cli.drawing import draw

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


def drawn(plan: WorkflowPlan, saved: SavedPlans | None = None) -> list[str]:
    return [line.indent + (f"{line.step[-1]}: " if line.step else "") + line.text for line in draw(plan, saved)]


def test_steps_follow_each_other_downward_and_branches_open_to_the_right() -> None:
    assert drawn(WorkflowPlan.model_validate(PLAN)) == [
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

    assert {line.step for line in lines} >= {("s0",), ("s1199",), ("s1200",)}


def test_what_a_step_holds_stands_below_it_and_a_saved_child_is_drawn_once() -> None:
    assert drawn(NESTED, SAVED) == [
        "each: for each file of input.files, 4 at once, failed ones are skipped",
        "┃ read: files.read",
        "┃ ↓ ok",
        "┃ inner: runs the plan inside it",
        "┃ ┃ rate: if input.text exists",
        "┃ ┃ ├─ true ■ end of the child",
        "┃ ┃ └─ false",
        "┃ ┃    unclear: ends: unclear",
        "┃ ├─ ok ■ next file",
        "┃ └─ unclear → read",
        "├─ done",
        "│  both: at once: a, b",
        "│  ┃ a:",
        "│  ┃ left: join",
        "│  ┃ ↓ ok",
        "│  ┃ ■ end of a",
        "│  ┃ b:",
        "│  ┃ right: join",
        "│  ┃ ↓ ok",
        "│  ┃ ■ end of b",
        "│  ↓ done",
        "│  deep: runs leaf 2",
        "│  ┃ ask: asks: approval",
        "│  ┃ ↓ submitted",
        "│  ┃ ■ end of the child",
        "│  ↓ ok",
        "│  again: runs leaf 2",
        "│  ↓ ok",
        "│  ■ end",
        "└─ completed_with_errors",
        "   stop: ends: stopped",
    ]


def test_a_saved_child_that_is_not_known_is_named() -> None:
    lines = drawn(NESTED)
    at = lines.index("│  deep: runs leaf 2")
    assert lines[at + 1] == "│  ↓ ok"


def test_a_route_out_of_a_loop_is_told_from_one_to_its_next_item() -> None:
    steps = {
        "each": {"type": "foreach", "over": "input.x", "as": "x", "routes": {"loop": "which", "done": "__end__"}},
        "which": {
            "type": "condition",
            "check": {"op": "exists", "path": "context.x"},
            "routes": {"true": "__break__", "false": "__end__"},
        },
    }
    plan = WorkflowPlan.model_validate({"name": "breaks", "start": "each", "steps": steps})
    assert drawn(plan) == [
        "each: for each x of input.x, one by one",
        "┃ which: if context.x exists",
        "┃ ├─ true ⇥ leave the loop",
        "┃ └─ false ■ next x",
        "↓ done",
        "■ end",
    ]
