"""`wf calls`, and what the other commands say of a run that has lost its process."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.wf_mcp.cli.terminal import Terminal
from tests.wf_mcp.desk import APPROVE, DEFER, asks, desk
from wf_mcp.app import App
from wf_mcp.operations.runs import run_deployment

PAY = """
import os
import time
from pathlib import Path

from wf_core import capability

@capability()
def pay(amount: int) -> dict:
    with (Path(__file__).parent / "paid").open("a") as paid:
        paid.write("x")
    while (Path(__file__).parent / "held").exists():
        time.sleep(0.01)
    return {"receipt": "r-1"}
"""

PLAN: dict[str, Any] = {
    "name": "pay",
    "state_schema": {"type": "object", "properties": {"receipt": {}}},
    "output_schema": {"type": "object", "properties": {"receipt": {}}},
    "start": "pay",
    "steps": {
        "pay": {
            "type": "node",
            "use": "ops.pay",
            "input": {"amount": {"value": 12}},
            "output": {"state.receipt": "receipt"},
            "routes": {"ok": "__end__"},
        }
    },
}


@pytest.fixture
def run_id(terminal: Terminal) -> str:
    """A run whose process ended while it paid."""
    folder = terminal.folder
    (folder / "ops.py").write_text(PAY, encoding="utf-8")
    (folder / "held").touch()
    name = terminal.deploy(PLAN)

    async def leave() -> str:
        async with App.open(home=folder / "home", config=folder / "wf.json") as app:
            run = await run_deployment(app, deployment_id=name, wait_seconds=0)
            with anyio.fail_after(20):
                while not (folder / "paid").exists():  # noqa: ASYNC110  # a thread of the capability's writes it
                    await anyio.sleep(0.01)
            assert run.run_id is not None
            return run.run_id

    left = anyio.run(leave)
    (folder / "held").unlink()
    return left


@pytest.fixture
def token(terminal: Terminal, run_id: str) -> str:
    """The payment, which is in doubt."""
    assert run_id in terminal.wf("runs", "recover").stdout
    [call] = terminal.wf("calls", "list", "--json").json["pending"]
    return call["call"]["token"]


def test_a_run_without_a_process_is_shown_as_it_is_until_somebody_goes_on_with_it(
    terminal: Terminal, run_id: str
) -> None:
    assert terminal.wf("runs", "show", run_id, "--json").json["status"] == "running"
    assert "No call waits." in terminal.wf("calls", "list").stdout
    assert terminal.wf("runs", "recover", run_id, "--json").json["runs"][0]["status"] == "interrupted"
    assert "No run is without a process." in terminal.wf("runs", "recover").stdout


def test_a_call_in_doubt_is_good_to_read_wherever_its_run_is_shown(terminal: Terminal, run_id: str, token: str) -> None:
    for command in (("calls", "show", token), ("runs", "show", run_id)):
        shown = terminal.wf(*command).stdout
        for words in ("ops.pay", "amount", "12", "whether", f"wf calls complete {token} RESULT"):
            assert words in shown
        assert f"wf calls fail {token}" in shown
        assert f"wf calls retry {token}" in shown
    assert token in terminal.wf("pending").stdout
    assert token in terminal.wf("calls", "list").stdout
    assert "pay (in doubt)" in terminal.wf("runs", "list").stdout


def test_what_a_person_says_of_it_lets_the_run_go_on(terminal: Terminal, token: str) -> None:
    refused = terminal.wf("calls", "complete", token, '{"receipt"')
    assert (refused.status, "RESULT is no JSON" in refused.stderr) == (2, True)
    ended = terminal.wf("calls", "complete", token, '{"receipt": "r-0"}', "--json")
    assert (ended.status, ended.json["output"]) == (0, {"receipt": "r-0"})
    again = terminal.wf("calls", "retry", token)
    assert (again.status, "call_already_completed" in again.stderr) == (2, True)
    assert (terminal.folder / "paid").read_text(encoding="utf-8") == "x"


def test_a_call_that_failed_fails_the_run_with_what_the_person_said(terminal: Terminal, token: str) -> None:
    ended = terminal.wf("calls", "fail", token, "--error", "declined", "--json")
    assert (ended.status, ended.json["error"]["message"]) == (1, "declined")


def test_a_call_is_made_again_when_a_person_says_so(terminal: Terminal, token: str) -> None:
    ended = terminal.wf("calls", "retry", token, "--json")
    assert (ended.status, ended.json["output"]) == (0, {"receipt": "r-1"})
    assert (terminal.folder / "paid").read_text(encoding="utf-8") == "xx"


def test_a_run_that_cannot_go_on_is_left_and_the_command_says_why(terminal: Terminal, run_id: str) -> None:
    (terminal.folder / "ops.py").write_text("raise RuntimeError('gone')", encoding="utf-8")
    left = terminal.wf("runs", "recover")
    assert (left.status, run_id in left.stdout, "cannot be" in left.stdout) == (4, True, True)


def test_calls_in_doubt_are_told_from_those_that_others_answer(tmp_path: Path) -> None:
    """The process of the session dies in the middle of a payment."""
    answers = [asks(("pay", {"amount": 5}), "remote_a", "remote_b"), {"text": "{{results}}"}, {"text": "Now I know."}]
    work = desk(tmp_path, answers, {"remote_a": DEFER, "remote_b": APPROVE})
    terminal = Terminal(tmp_path)
    session_id = terminal.wf("session", "start", "--agent", "helper", "--prompt", "Go.").stdout.strip()
    (tmp_path / "die").touch()
    program = [sys.executable, "-c", "from wf_mcp.cli.main import main; main()"]
    place = ["--home", str(work.home), "--config", str(work.config)]
    died = subprocess.run([*program, *place, "session", "resume", session_id], capture_output=True, check=False)
    assert (died.returncode, work.made) == (9, ["pay 5"])
    (tmp_path / "die").unlink()

    told = terminal.wf("session", "resume", session_id, "--json").json
    tokens = {call["name"]: call["token"] for call in told["pending_calls"]}
    rows = {line.split()[0]: line for line in terminal.wf("calls", "list").stdout.splitlines() if "call_" in line}
    assert "in doubt: a person says what became of it" in rows[tokens["pay"]]
    assert "its result from outside (external worker)" in rows[tokens["remote_a"]]
    assert "a person's approval (costs money)" in rows[tokens["remote_b"]]
    assert all("helper" in row for row in rows.values())
    shown = terminal.wf("calls", "show", tokens["pay"]).stdout
    assert [f"wf calls {verb} {tokens['pay']}" in shown for verb in ("complete", "fail", "retry")] == [True] * 3

    again = terminal.wf("calls", "retry", tokens["pay"])
    assert (again.status, f"Delivered to {session_id}" in again.stdout) == (0, True)
    terminal.wf("calls", "complete", tokens["remote_a"], '"there"')
    refused = terminal.wf("calls", "retry", tokens["remote_b"])
    assert (refused.status, "wrong_answer_kind" in refused.stderr) == (2, True)
    terminal.wf("calls", "fail", tokens["remote_b"], "--error", "too dear")
    assert terminal.wf("session", "resume", session_id).status == 0
    assert work.made == ["pay 5", "pay 5"]
    assert "No call waits." in terminal.wf("calls", "list").stdout
