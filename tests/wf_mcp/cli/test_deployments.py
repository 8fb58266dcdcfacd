"""`wf deployments`."""

import json

from tests.wf_mcp.cli.terminal import PLAN, Terminal


def test_a_deployment_is_created_listed_shown_and_deleted(terminal: Terminal) -> None:
    terminal.deploy()

    listed = terminal.wf("deployments", "list").stdout
    shown = terminal.wf("deployments", "show", "parity").stdout
    deleted = terminal.wf("deployments", "delete", "parity", "--json")

    assert "parity 1" in listed
    assert "wf runs start parity" in shown
    assert deleted.json == {"deployment_id": "parity"}
    assert "No deployments." in terminal.wf("deployments", "list").stdout


def test_sources_are_bound_by_name(terminal: Terminal) -> None:
    plan = json.loads(json.dumps(PLAN).replace("ops.parity", "numbers.parity"))
    terminal.wf("artifacts", "save", "parity", json.dumps(plan))

    bound = terminal.wf("deployments", "create", "bound", "parity", "--bind", "numbers=ops", "--json")
    unbound = terminal.wf("deployments", "create", "unbound", "parity")

    assert bound.json["runnable"]
    assert bound.json["bindings"] == {"numbers": "ops"}
    assert "runnable    no" in unbound.stdout


def test_a_binding_without_a_source_is_refused(terminal: Terminal) -> None:
    ended = terminal.wf("deployments", "create", "x", "parity", "--bind", "numbers")

    assert ended.status == 2
    assert "Write NAME=SOURCE" in ended.stderr
