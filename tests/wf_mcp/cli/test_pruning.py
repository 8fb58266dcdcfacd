"""`wf runs prune`."""

from datetime import timedelta

import pytest
import typer

from tests.wf_mcp.cli.terminal import Terminal
from wf_mcp.cli.pruning import age, chosen


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("0s", timedelta()),
        ("90m", timedelta(minutes=90)),
        ("12h", timedelta(hours=12)),
        ("30d", timedelta(days=30)),
        ("4w", timedelta(weeks=4)),
    ],
)
def test_an_age_is_a_number_and_a_unit(text: str, meant: timedelta) -> None:
    assert age(text) == meant


@pytest.mark.parametrize("text", ["", "30", "d", "-1d", "1.5d", "30 d", "30y", "999999999w", "9" * 5000 + "d"])
def test_what_is_no_age_is_refused(text: str) -> None:
    with pytest.raises(typer.BadParameter):
        age(text)


def test_statuses_are_given_one_by_one_or_together() -> None:
    every, ended = ("open", "failed", "completed", "cancelled"), {"failed", "completed", "cancelled"}
    assert chosen(["failed, cancelled", "completed", "open"], every, ended) == [
        "failed",
        "cancelled",
        "completed",
        "open",
    ]
    assert chosen(None, every, ended) == ["cancelled", "completed", "failed"]
    with pytest.raises(typer.BadParameter, match="'done' is no status; there is cancelled, completed, failed"):
        chosen(["done"], every, ended)


def test_runs_that_ended_are_deleted_and_open_ones_stay(terminal: Terminal) -> None:
    terminal.deploy()
    ended, waiting = terminal.start(2).json["run_id"], terminal.start(3).json["run_id"]

    kept = terminal.wf("runs", "prune", "--older-than", "1d", "--json")
    would = terminal.wf("runs", "prune", "--older-than", "0s", "--dry-run")
    still = terminal.wf("runs", "show", ended, "--json")
    failed = terminal.wf("runs", "prune", "--older-than", "0s", "--status", "failed", "--json")
    pruned = terminal.wf("runs", "prune", "--older-than", "0s", "--json")

    assert kept.json["runs"] == failed.json["runs"] == []
    assert "1 would be deleted" in would.stdout
    assert still.status == 0
    assert [run["run_id"] for run in pruned.json["runs"]] == [ended]
    assert terminal.wf("runs", "show", ended).status == 2
    assert terminal.wf("runs", "show", waiting).status == 0


def test_an_open_run_cannot_be_asked_for(terminal: Terminal) -> None:
    refused = terminal.wf("runs", "prune", "--older-than", "0s", "--status", "interrupted", "--json")
    assert refused.status == 2
    assert refused.json["error"]["code"] == "invalid_argument"


def test_a_time_before_all_dates_is_refused(terminal: Terminal) -> None:
    refused = terminal.wf("runs", "prune", "--older-than", "99999999d", "--json")
    assert (refused.status, refused.json["error"]["code"]) == (2, "invalid_argument")
