"""`wf runs`. The exit status tells a script how a run stands."""

import pytest

from tests.wf_mcp.cli.terminal import Terminal


def test_a_run_that_completes_ends_with_status_0(terminal: Terminal) -> None:
    terminal.deploy()

    ended = terminal.start(2)

    assert ended.status == 0
    assert (ended.json["status"], ended.json["outcome"]) == ("completed", "ok")


def test_a_run_that_waits_ends_with_status_3_and_a_person_may_answer_here(terminal: Terminal) -> None:
    """The command line is a channel that a model cannot use."""
    terminal.deploy()

    asked = terminal.start(3)
    answered = terminal.wf(
        "runs", "resume", asked.json["run_id"], "--outcome", "no", "--payload", '{"why": "odd"}', "--json"
    )

    assert asked.status == 3
    assert asked.json["interrupt"]["answered_by"] == "person"
    assert answered.status == 0
    assert (answered.json["outcome"], answered.json["output"]) == ("refused", {"why": "odd"})


def test_a_run_that_fails_ends_with_status_1_and_says_why(terminal: Terminal) -> None:
    steps = {"boom": {"type": "node", "use": "ops.explode", "routes": {"ok": "__end__"}}}
    name = terminal.deploy({"name": "boom", "start": "boom", "steps": steps})

    ended = terminal.wf("runs", "start", name)

    assert ended.status == 1
    assert "failed in boom" in ended.stdout
    assert "it exploded" in ended.stdout


def test_a_run_that_cannot_start_ends_with_status_4(terminal: Terminal) -> None:
    terminal.deploy()
    (terminal.folder / "wf.json").write_text("{}", encoding="utf-8")

    ended = terminal.start(2)

    assert ended.status == 4
    assert ended.json["status"] == "unrunnable"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("runs", "show", "run_x"), "run_not_found"),
        (("runs", "start", "parity", "--input", "{"), "invalid_argument"),
        (("runs", "start", "parity", "--input", "[]"), "invalid_argument"),
        (("runs", "start", "parity", "--input", '{"n": "three"}'), "invalid_input"),
        (("runs", "trace", "run_x", "--limit", "0"), "invalid_argument"),
    ],
)
def test_wrong_input_ends_with_status_2_and_a_code_and_a_hint_on_stderr(
    terminal: Terminal, arguments: tuple[str, ...], code: str
) -> None:
    terminal.deploy()

    ended = terminal.wf(*arguments)

    assert ended.status == 2
    assert ended.stdout == ""
    assert ended.stderr.startswith(f"error {code}: ")
    assert len(ended.stderr.splitlines()) >= 2


def test_json_gives_the_structured_error_too(terminal: Terminal) -> None:
    ended = terminal.wf("runs", "show", "run_x", "--json")

    assert ended.json["error"]["code"] == "run_not_found"
    assert "run_not_found" in ended.stderr


def test_runs_are_listed_shown_traced_drawn_and_cancelled(terminal: Terminal) -> None:
    terminal.deploy()
    run_id = terminal.start(3).json["run_id"]

    listed = terminal.wf("runs", "list", "--status", "interrupted").stdout
    shown = terminal.wf("runs", "show", run_id, "--check").stdout
    traced = terminal.wf("runs", "trace", run_id, "--start", "-1").stdout
    drawn = terminal.wf("runs", "graph", run_id).stdout
    cancelled = terminal.wf("runs", "cancel", run_id, "--reason", "enough")

    assert run_id in listed
    assert "Is 3 all right?" in shown
    assert f"wf runs resume {run_id}" in shown
    assert "look" not in traced
    assert "asks" in traced
    assert "✓ look" in drawn
    assert "? ask" in drawn
    assert "· stop" in drawn
    assert cancelled.status == 0
    assert "cancelled" in cancelled.stdout


def test_a_key_names_one_run(terminal: Terminal) -> None:
    terminal.deploy()
    start = ("runs", "start", "parity", "--key", "monday", "--json", "--input")

    first, again, other = (terminal.wf(*start, text) for text in ('{"n": 2}', '{"n": 2}', '{"n": 4}'))

    assert first.json["run_id"] == again.json["run_id"]
    assert other.status == 2
    assert other.json["error"]["code"] == "idempotency_conflict"
