"""`wf pending`."""

import json
from pathlib import Path

from tests.wf_mcp.cli.terminal import PLAN, Terminal
from tests.wf_mcp.desk import APPROVE, CONFIG, DEFER, asks, desk


def test_what_waits_is_listed(terminal: Terminal) -> None:
    terminal.deploy()
    run_id = terminal.start(3).json["run_id"]

    assert "Nothing waits." in terminal.wf("pending", "--run", terminal.start(2).json["run_id"]).stdout
    waiting = terminal.wf("pending").stdout
    assert run_id in waiting
    assert "ask asks approval" in waiting


PARITY = """
from wf_core import Outcome, capability

@capability(read_only=True, outcomes=("even", "odd"))
def parity(n: int) -> dict:
    return Outcome("odd", {})
"""


def test_questions_of_runs_and_calls_of_sessions_are_one_list(tmp_path: Path) -> None:
    sources = {"pythonSources": {**CONFIG["pythonSources"], "more": {"module": "more"}}}
    desk(tmp_path, [asks("remote_a", ("pay", {"amount": 5}))], {"remote_a": DEFER, "pay": APPROVE}, config=sources)
    (tmp_path / "more.py").write_text(PARITY, encoding="utf-8")
    terminal = Terminal(tmp_path)
    terminal.deploy(json.loads(json.dumps(PLAN).replace("ops.parity", "more.parity")))
    run_id = terminal.start(3).json["run_id"]
    waiting = terminal.wf("agent", "run", "helper", "--prompt", "Go.").json

    shown = terminal.wf("pending").stdout
    for words in (run_id, "ask asks approval", waiting["session_id"], "helper", "ops.remote_a, its result from"):
        assert words in shown
    assert "a person's approval (costs money)" in shown
    assert run_id not in terminal.wf("pending", "--session", waiting["session_id"]).stdout
    assert waiting["session_id"] not in terminal.wf("pending", "--run", run_id).stdout
    listed = terminal.wf("pending", "--json").json["pending"]
    assert [item["type"] for item in listed] == ["interrupt", "call", "call"]
