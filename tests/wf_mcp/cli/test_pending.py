"""`wf pending`."""

from tests.wf_mcp.cli.terminal import Terminal


def test_what_waits_is_listed(terminal: Terminal) -> None:
    terminal.deploy()
    run_id = terminal.start(3).json["run_id"]

    assert "Nothing waits." in terminal.wf("pending", "--run", terminal.start(2).json["run_id"]).stdout
    waiting = terminal.wf("pending").stdout
    assert run_id in waiting
    assert "ask asks approval" in waiting
