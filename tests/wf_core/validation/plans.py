"""Small plans to break, and what reading them finds."""

from collections.abc import Mapping
from typing import Any

from wf_core.calls.contract import Contract
from wf_core.validation import Issue, read_plan
from wf_core.validation.children import Children

Document = dict[str, Any]


def plan(**fields: Any) -> Document:
    """Give a valid plan with a state of one field `a`, some of its fields replaced."""
    return {
        "name": "flow",
        "state_schema": {"type": "object", "properties": {"a": {}}},
        "start": "one",
        "steps": {"one": node()},
        **fields,
    }


def node(**fields: Any) -> Document:
    """Give a step that writes `state.a` and ends."""
    return {
        "type": "node",
        "use": "ops.make",
        "input": {"value": {"value": 1}},
        "output": {"state.a": "value"},
        "routes": {"ok": "__end__"},
        **fields,
    }


def condition(check: Any) -> Document:
    return {"type": "condition", "check": check, "routes": {"true": "__end__", "false": "__end__"}}


def ask(**fields: Any) -> Document:
    return {"type": "interrupt", "kind": "question", "routes": {"submitted": "__end__"}, **fields}


def each(**fields: Any) -> Document:
    """Give a loop over `input.items` whose body begins at `body`."""
    return {
        "type": "foreach",
        "over": "input.items",
        "as": "item",
        "routes": {"loop": "body", "done": "__end__"},
        **fields,
    }


def parallel(**branches: str) -> Document:
    """Give a step whose branches begin at these steps."""
    return {"type": "parallel", "branches": branches, "routes": {"done": "__end__"}}


def child(workflow: Document, **fields: Any) -> Document:
    return {"type": "subgraph", "workflow": workflow, "routes": {"ok": "__end__"}, **fields}


def by_source(contracts: Mapping[str, Contract]) -> dict[str, dict[str, Contract]]:
    """Give what each source offers, from contracts by `source.capability`."""
    sources: dict[str, dict[str, Contract]] = {}
    for name, contract in contracts.items():
        source, _, capability = name.rpartition(".")
        sources.setdefault(source, {})[capability] = contract
    return sources


def issues(
    document: object, *, contracts: dict[str, Contract] | None = None, children: Children | None = None
) -> list[Issue]:
    """Give every issue of a plan."""
    sources = None if contracts is None else by_source(contracts)
    return read_plan(document, sources=sources, children=children).issues


def errors(
    document: object, *, contracts: dict[str, Contract] | None = None, children: Children | None = None
) -> list[tuple[str, str]]:
    """Give code and place of every error."""
    found = issues(document, contracts=contracts, children=children)
    return [(issue.code, issue.path) for issue in found if issue.severity == "error"]


def only_error(
    document: object, *, contracts: dict[str, Contract] | None = None, children: Children | None = None
) -> Issue:
    """Give the one error of a plan."""
    found = issues(document, contracts=contracts, children=children)
    (error,) = [issue for issue in found if issue.severity == "error"]
    return error


def warnings(document: object) -> list[tuple[str, str]]:
    """Give code and place of every warning."""
    return [(issue.code, issue.path) for issue in issues(document) if issue.severity == "warning"]
