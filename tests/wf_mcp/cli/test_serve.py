"""`wf serve`."""

from tests.wf_mcp.cli.terminal import Terminal


def test_an_address_that_other_machines_reach_is_refused(terminal: Terminal) -> None:
    ended = terminal.wf("serve", "0.0.0.0:9000")

    assert ended.status == 2
    assert "can be reached from other machines" in ended.stderr
