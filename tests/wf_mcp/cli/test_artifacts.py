"""`wf artifacts`."""

import json

from tests.wf_mcp.cli.terminal import PLAN, Terminal


def test_a_plan_is_saved_from_a_file_a_pipe_or_the_command_line(terminal: Terminal) -> None:
    """The same plan is the same version, whichever way it came."""
    (terminal.folder / "plan.json").write_text(json.dumps(PLAN), encoding="utf-8")
    save = ("artifacts", "save", "parity")

    ways = [
        terminal.wf(*save, str(terminal.folder / "plan.json"), "--json"),
        terminal.wf(*save, f"@{terminal.folder / 'plan.json'}", "--json"),
        terminal.wf(*save, "-", "--json", given=json.dumps(PLAN)),
        terminal.wf(*save, json.dumps(PLAN), "--json"),
    ]

    assert [way.json["version"] for way in ways] == [1, 1, 1, 1]


def test_a_plan_that_is_not_valid_is_refused_with_every_issue(terminal: Terminal) -> None:
    ended = terminal.wf("artifacts", "save", "bad", '{"name": "bad", "stepz": {}}')

    assert ended.status == 2
    assert "invalid_plan" in ended.stderr
    assert "unknown_key at /stepz" in ended.stderr
    assert "missing_key" in ended.stderr


def test_what_was_saved_is_what_the_next_command_deploys(terminal: Terminal) -> None:
    other = json.dumps(PLAN | {"description": "Another."})
    for plan in (json.dumps(PLAN), other, json.dumps(PLAN)):
        saved = terminal.wf("artifacts", "save", "parity", plan)

    assert "wf deployments create NAME parity --version 1" in saved.stdout


def test_artifacts_are_listed_shown_and_deleted(terminal: Terminal) -> None:
    terminal.wf("artifacts", "save", "parity", json.dumps(PLAN), "--description", "numbers")

    listed = terminal.wf("artifacts", "list").stdout
    shown = terminal.wf("artifacts", "show", "parity", "--version", "1", "--json")
    deleted = terminal.wf("artifacts", "delete", "parity")

    assert "parity" in listed
    assert "numbers" in listed
    assert shown.json["plan"] == PLAN
    assert deleted.stdout.strip() == "deleted parity"
    assert "No artifacts." in terminal.wf("artifacts", "list").stdout
