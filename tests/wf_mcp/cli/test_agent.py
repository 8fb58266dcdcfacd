"""`wf agent`."""

from pathlib import Path

import pytest

from tests.wf_mcp.cli.terminal import Terminal
from tests.wf_mcp.desk import ISOLATE, asks, desk


def test_an_agent_runs_to_its_answer_which_is_printed_alone(tmp_path: Path) -> None:
    work = desk(tmp_path, [asks("local"), {"text": "Done: [x]\n{{results}}"}])
    ended = Terminal(tmp_path).wf("agent", "run", str(tmp_path / "helper.agent.json"), "--prompt", "Go.")
    assert (ended.status, ended.stdout) == (0, "Done: [x]\n- local: here: bread\n")
    assert work.made == ["local"]


def test_what_it_waits_for_is_reported_as_json_and_the_flow_goes_on_from_there(tmp_path: Path) -> None:
    """Seed document 001: `agents-exe run` stops, stores the session and prints a JSON report."""
    desk(tmp_path)
    terminal = Terminal(tmp_path)
    waiting = terminal.wf("agent", "run", "helper", "--prompt", "Go.")
    assert (waiting.status, waiting.json["status"]) == (3, "waiting")
    for call in waiting.json["pending_calls"]:
        assert terminal.wf("session", "complete", call["token"], "-", given=call["name"]).status == 0
    ended = terminal.wf("session", "resume", waiting.json["session_id"], "--json")
    assert (ended.status, ended.json["status"]) == (0, "answered")


def test_isolated_calls_are_carried_out_on_the_way(tmp_path: Path) -> None:
    work = desk(tmp_path, [asks("remote_a", "local"), {"text": "{{results}}"}], {"remote_a": ISOLATE})
    ended = Terminal(tmp_path).wf("agent", "run", "helper", "--prompt", "Go.", "--json")
    assert (ended.status, ended.json["status"]) == (0, "answered")
    assert sorted(work.made) == ["local", "remote_a"]


def test_a_call_that_nobody_here_can_isolate_is_reported_and_not_tried_for_ever(tmp_path: Path) -> None:
    desk(tmp_path, [asks("now")], {"now": {"tag": "runIsolated", "spec": {}}}, tools=["wf.std.now"])
    waiting = Terminal(tmp_path).wf("agent", "run", "helper", "--prompt", "Go.")
    assert (waiting.status, [call["reason"] for call in waiting.json["pending_calls"]]) == (3, ["no runner"])


def test_a_model_that_was_cut_says_what_to_do(tmp_path: Path) -> None:
    work = desk(tmp_path, [asks("local") | {"finishReason": "length"}])
    terminal = Terminal(tmp_path)
    ended = terminal.wf("agent", "run", "helper", "--prompt", "Go.")
    said = " ".join(ended.stdout.split())
    assert (ended.status, work.made) == (1, [])
    assert "model_answer_cut: The model's answer was cut at the limit of its tokens." in said
    assert "raise the limit where the model is served" in said
    told = terminal.wf("agent", "run", "helper", "--prompt", "Go.", "--json").json
    assert (told["status"], told["error"]["code"]) == ("ready", "model_answer_cut")
    assert "raise the limit" in told["error"]["hint"]


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("nobody", "--prompt", "x"), 2, "agent_not_found"),
        (("nothing.json", "--prompt", "x"), 2, "invalid_agent"),
        (("helper",), 2, "prompt"),
        (("helper", "--prompt", "x"), 1, "model_unusable"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, words: tuple[str, ...], status: int, said: str) -> None:
    desk(tmp_path, [])
    ended = Terminal(tmp_path).wf("agent", "run", *words)
    assert (ended.status, said in ended.stdout + ended.stderr) == (status, True)


def test_an_agent_that_cannot_run_says_why(tmp_path: Path) -> None:
    desk(tmp_path, tools=["files.*"])
    ended = Terminal(tmp_path).wf("agent", "run", "helper", "--prompt", "x")
    assert (ended.status, "files.*" in ended.stdout) == (4, True)
