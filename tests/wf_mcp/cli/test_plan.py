"""`wf plan`."""

import json

from tests.wf_mcp.cli.terminal import PLAN, Terminal


def test_a_valid_plan_is_said_to_be_valid(terminal: Terminal) -> None:
    ended = terminal.wf("plan", "validate", json.dumps(PLAN))

    assert ended.status == 0
    assert ended.stdout.strip() == "valid"


def test_a_plan_that_is_not_valid_ends_with_status_2(terminal: Terminal) -> None:
    ended = terminal.wf("plan", "validate", json.dumps(PLAN | {"start": "lok"}), "--json")

    assert ended.status == 2
    assert [issue["code"] for issue in ended.json["issues"] if issue["severity"] == "error"] == ["unknown_start"]


def test_a_plan_is_drawn_for_the_terminal_and_for_mermaid(terminal: Terminal) -> None:
    drawn = terminal.wf("plan", "graph", "-", given=json.dumps(PLAN)).stdout
    mermaid = terminal.wf("plan", "graph", "-", "--format", "mermaid", given=json.dumps(PLAN)).stdout

    assert "ask      asks: approval, a person answers" in drawn
    assert mermaid.startswith("flowchart TD\n")


def test_a_plan_that_cannot_be_drawn_says_what_is_wrong_with_it(terminal: Terminal) -> None:
    ended = terminal.wf("plan", "graph", json.dumps(PLAN | {"start": "lok"}))

    assert ended.status == 2
    assert "unknown_start at /start" in ended.stderr


def test_the_schema_of_a_plan_is_printed(terminal: Terminal) -> None:
    assert "steps" in terminal.wf("plan", "schema").json["properties"]
