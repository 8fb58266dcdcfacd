"""`wf capabilities`."""

from tests.wf_mcp.cli.terminal import Terminal


def test_capabilities_are_found_and_shown_with_their_contract(terminal: Terminal) -> None:
    listed = terminal.wf("capabilities", "list", "--source", "ops").stdout
    shown = terminal.wf("capabilities", "show", "ops.parity").stdout

    assert "ops.parity" in listed
    assert "even, odd" in listed
    assert "wf.std" not in listed
    assert '"n"' in shown


def test_a_capability_is_called_with_json(terminal: Terminal) -> None:
    called = terminal.wf("capabilities", "call", "ops.parity", "-", "--json", given='{"n": 3}')

    assert called.json == {"outcome": "odd", "output": {"n": 3}}


def test_a_call_that_fails_ends_with_status_1(terminal: Terminal) -> None:
    called = terminal.wf("capabilities", "call", "ops.explode")

    assert called.status == 1
    assert "capability_error" in called.stderr
