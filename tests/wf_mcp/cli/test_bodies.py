"""The steps that steps hold, and the paths that lead through them."""

from typing import Any

import pytest

from tests.wf_mcp.cli.plans import NESTED, SAVED
from wf_mcp.cli.bodies import SavedPlans, along, bodies, exits, whole


@pytest.mark.parametrize(
    ("step_id", "held"),
    [
        ("each", [("each file", "read", ())]),
        ("both", [("a", "left", ()), ("b", "right", ())]),
        ("inner", [("score", "rate", ("inner",))]),
        ("deep", [("leaf", "ask", ("deep",))]),
        ("read", []),
    ],
)
def test_what_a_step_holds(step_id: str, held: list[Any]) -> None:
    found = bodies(whole(NESTED), step_id, SAVED)
    assert [(body.title, body.start, body.at) for body in found] == held


def test_a_saved_child_that_is_not_known_holds_nothing() -> None:
    assert bodies(whole(NESTED), "deep", {}) == []


def test_the_way_into_a_loop_is_no_way_on() -> None:
    assert exits(NESTED.steps["each"]) == {"done": "both", "completed_with_errors": "stop"}
    assert exits(NESTED.steps["both"]) == {"done": "deep"}
    assert exits(NESTED.steps["stop"]) == {}


@pytest.mark.parametrize(
    ("path", "saved", "steps"),
    [
        (["each", "7", "inner", "rate"], SAVED, [("each",), ("inner",), ("inner", "rate")]),
        (["both", "a", "left"], SAVED, [("both",), ("left",)]),
        (["deep", "ask"], SAVED, [("deep",), ("deep", "ask")]),
        (["deep", "ask"], {}, [("deep",)]),
        (["gone", "ask"], SAVED, []),
        (["read", "more"], SAVED, [("read",)]),
        ([], SAVED, []),
    ],
)
def test_a_path_leads_through_steps_past_items_and_branches(path: list[str], saved: SavedPlans, steps: Any) -> None:
    assert list(along(NESTED, path, saved)) == steps
