"""`wf sources`."""

import json

from tests.wf_mcp.cli.terminal import Terminal


def test_sources_are_listed_without_being_started(terminal: Terminal) -> None:
    found = terminal.wf("sources", "list", "--json").json["sources"]

    assert {source["name"]: source["status"] for source in found} == {"wf.std": "ready", "ops": "idle"}


def test_a_source_is_shown_with_what_it_offers(terminal: Terminal) -> None:
    shown = terminal.wf("sources", "show", "ops")

    assert shown.status == 0
    assert "ops.parity" in shown.stdout


def test_checking_a_source_that_cannot_be_used_ends_with_status_4(terminal: Terminal) -> None:
    broken = {"pythonSources": {"broken": {"module": "nowhere_to_be_found"}}}
    (terminal.folder / "wf.json").write_text(json.dumps(broken), encoding="utf-8")

    checked = terminal.wf("sources", "check", "broken")

    assert checked.status == 4
    assert "unavailable" in checked.stdout
    assert terminal.wf("sources", "check", "wf.std").status == 0
