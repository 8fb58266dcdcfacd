"""`wf session prune`."""

from pathlib import Path

from tests.wf_mcp.cli.terminal import Terminal
from tests.wf_mcp.desk import desk


def test_sessions_that_ended_are_deleted_and_those_that_wait_stay(tmp_path: Path) -> None:
    terminal = Terminal(desk(tmp_path).folder)
    ended, waiting, ready = (
        terminal.wf("session", "start", "--agent", "helper", "--prompt", "Go.").stdout.strip() for _ in range(3)
    )
    for session_id in (ended, waiting):
        terminal.wf("session", "resume", session_id)
    for call in terminal.wf("session", "show", ended, "--json").json["pending_calls"]:
        terminal.wf("session", "complete", call["token"], "-", given="there")
    assert terminal.wf("session", "resume", ended).status == 0

    kept = terminal.wf("session", "prune", "--older-than", "1d", "--json")
    would = terminal.wf("session", "prune", "--older-than", "0s", "--dry-run")
    still = terminal.wf("session", "show", ended)
    failed = terminal.wf("session", "prune", "--older-than", "0s", "--status", "failed", "--json")
    nothing = terminal.wf("session", "prune", "--older-than", "0s", "--status", "failed")
    pruned = terminal.wf("session", "prune", "--older-than", "0s", "--json")

    assert kept.json["sessions"] == failed.json["sessions"] == []
    assert "No session ended before" in nothing.stdout
    assert "1 would be deleted" in would.stdout
    assert still.status == 0
    assert [one["session_id"] for one in pruned.json["sessions"]] == [ended]
    assert terminal.wf("session", "show", ended).status == 2
    for session_id in (waiting, ready):
        assert terminal.wf("session", "show", session_id).status == 0


def test_one_that_has_not_ended_cannot_be_asked_for(tmp_path: Path) -> None:
    terminal = Terminal(desk(tmp_path).folder)
    for status in ("waiting", "ready"):
        refused = terminal.wf("session", "prune", "--older-than", "0s", "--status", status, "--json")
        assert (refused.status, refused.json["error"]["code"]) == (2, "invalid_argument")
    assert terminal.wf("session", "prune", "--older-than", "0s", "--status", "done").status == 2
