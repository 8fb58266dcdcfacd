"""A plan that holds something of everything that steps can hold."""

from wf_core.plan import WorkflowPlan
from wf_core.validation import read_plan
from wf_mcp.cli.bodies import SavedPlans

_SCORE = {
    "name": "score",
    "outcomes": ["ok", "unclear"],
    "start": "rate",
    "steps": {
        "rate": {
            "type": "condition",
            "check": {"op": "exists", "path": "input.text"},
            "routes": {"true": "__end__", "false": "unclear"},
        },
        "unclear": {"type": "end", "outcome": "unclear"},
    },
}
_NESTED = {
    "name": "nested",
    "outcomes": ["ok", "stopped"],
    "start": "each",
    "steps": {
        "each": {
            "type": "foreach",
            "over": "input.files",
            "as": "file",
            "mode": "concurrent",
            "on_item_error": "skip",
            "routes": {"loop": "read", "done": "both", "completed_with_errors": "stop"},
        },
        "read": {"type": "node", "use": "files.read", "routes": {"ok": "inner"}},
        "inner": {
            "type": "subgraph",
            "workflow": {"plan": _SCORE},
            "routes": {"ok": "__end__", "unclear": "read"},
        },
        "both": {"type": "parallel", "branches": {"a": "left", "b": "right"}, "routes": {"done": "deep"}},
        "left": {"type": "join", "routes": {"ok": "__end__"}},
        "right": {"type": "join", "routes": {"ok": "__end__"}},
        "deep": {
            "type": "subgraph",
            "workflow": {"artifact_id": "leaf", "version": 2},
            "routes": {"ok": "again"},
        },
        "again": {
            "type": "subgraph",
            "workflow": {"artifact_id": "leaf", "version": 2},
            "routes": {"ok": "__end__"},
        },
        "stop": {"type": "end", "outcome": "stopped"},
    },
}
_LEAF = {
    "name": "leaf",
    "start": "ask",
    "steps": {"ask": {"type": "interrupt", "kind": "approval", "routes": {"submitted": "__end__"}}},
}


def _read(document: object) -> WorkflowPlan:
    report = read_plan(document)
    assert report.plan is not None, report.issues
    return report.plan


NESTED = _read(_NESTED)
SAVED: SavedPlans = {("leaf", 2): _read(_LEAF)}
