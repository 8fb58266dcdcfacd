"""Loops that note each of their items."""

from typing import Any

import pytest

from tests.wf_core.kernel import (
    LIST,
    Json,
    each,
    finish,
    loop,
    node,
    output_of,
    path,
    plan,
)

SEEN = {"seen": LIST}
RESULT = {"seen": path("state.seen")}

MODES = pytest.mark.parametrize("kind", [loop, each])


def noting(kind: Any, **more: Any) -> dict[str, Any]:
    """Write a plan whose loop notes each item, except those that are `bad`."""
    steps = {
        "each": kind("note", **more),
        "note": node("t.picky", input={"value": path("context.x")}, output={"state.seen": "value"}),
        "partly": {"type": "end", "outcome": "partly"},
    }
    state: Json = {**SEEN, "errors": {"type": "array", "default": []}}
    output = {"seen": path("state.seen"), "errors": path("state.errors")}
    return plan(steps, state, outcomes=["ok", "partly"], output=output)


def seen(document: dict[str, Any], items: list[Any]) -> Any:
    return output_of(finish(document, {"items": items}))["seen"]
