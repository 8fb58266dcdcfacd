"""`wf capabilities`."""

import json

import pytest

from tests.wf_mcp.cli.terminal import Terminal

TALKATIVE = """
import os, sys
from wf_core import capability

@capability(read_only=True)
def talk() -> dict:
    print("on stderr", os.environ["GATE"])
    sys.stdout.write(f"on stdout {os.environ['GATE']}\\n")
    return {"gate": int(os.environ["GATE"])}
"""


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


def test_what_a_capability_prints_is_shown_without_secrets(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATE", "7766554433")
    (terminal.folder / "ops.py").write_text(TALKATIVE, encoding="utf-8")
    off = {"command": "x", "env": {"KEY": "${GATE}"}, "enabled": False}
    config = {"pythonSources": {"ops": {"module": "ops"}}, "mcpServers": {"off": off}}
    (terminal.folder / "wf.json").write_text(json.dumps(config), encoding="utf-8")

    called = terminal.wf("capabilities", "call", "ops.talk")

    assert called.status == 0
    assert "on stderr [redacted]" in called.stderr
    assert "on stdout [redacted]" in called.stdout
    assert "7766554433" not in called.stdout + called.stderr
