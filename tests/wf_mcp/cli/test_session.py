"""`wf session`, as a person and as a script use it."""

import base64
import json
import os
from pathlib import Path

import pytest

from tests.wf_mcp.cli.terminal import Ended, Terminal
from tests.wf_mcp.desk import APPROVE, ISOLATE, Desk, asks, desk
from wf_mcp.cli.session import agent_of, attachments
from wf_mcp.errors import InvalidArgument


@pytest.fixture
def work(tmp_path: Path) -> Desk:
    return desk(tmp_path)


@pytest.fixture
def terminal(work: Desk) -> Terminal:
    return Terminal(work.folder)


def started(terminal: Terminal, *more: str) -> str:
    ended = terminal.wf("session", "start", "--agent", "helper", "--prompt", "Go.", *more)
    assert ended.status == 0, ended.stderr
    return ended.stdout.splitlines()[0]


def waits(terminal: Terminal) -> tuple[str, dict[str, str]]:
    """Let a session go on to where it waits, and give its id and its tokens by tool."""
    session_id = started(terminal)
    told = terminal.wf("session", "resume", session_id, "--json")
    assert told.status == 3, told.stderr
    return session_id, {call["name"]: call["token"] for call in told.json["pending_calls"]}


def given(terminal: Terminal, session_id: str) -> list[dict[str, object]]:
    """Give the results that the model was given in the end."""
    terminal.wf("session", "resume", session_id)
    turns = terminal.wf("session", "show", session_id, "--json").json["conversation"]
    return [result["result"] for turn in turns for result in turn["results"]]


def test_start_prints_the_id_alone_and_asks_nobody(terminal: Terminal, work: Desk) -> None:
    ended = terminal.wf("session", "start", "--agent", "helper", "--prompt", "Go.")
    assert (ended.status, len(ended.stdout.split())) == (0, 1)
    assert ended.stdout.startswith("sess_")
    assert work.made == []
    as_json = terminal.wf(
        "session", "start", "--agent", str(work.folder / "helper.agent.json"), "--prompt", "Go.", "--json"
    )
    assert (as_json.status, as_json.json["status"], as_json.json["turns"]) == (0, "ready", 1)


def test_start_with_step_prints_the_id_and_what_the_model_asks_for(terminal: Terminal) -> None:
    ended = terminal.wf("session", "start", "--agent", "helper", "--prompt", "Go.", "--step")
    assert ended.status == 0
    first, *rest = ended.stdout.splitlines()
    assert first.startswith("sess_")
    assert "the model asks for" in rest
    assert any("→  remote_a" in line for line in rest)


def test_steps_show_what_each_of_them_did(terminal: Terminal, work: Desk) -> None:
    session_id = started(terminal)
    asked = terminal.wf("session", "step", session_id)
    assert asked.status == 0
    assert ["Three things." in asked.stdout, "the model asks for" in asked.stdout, "its calls" in asked.stdout] == [
        True, True, False,
    ]  # fmt: skip
    made = terminal.wf("session", "pause", session_id)
    assert made.status == 3
    assert "the model asks for" not in made.stdout
    lines = [line.strip() for line in made.stdout.splitlines()]
    assert lines[:2] == ["its calls", "✓  local     here: bread"]
    tokens = [call["token"] for call in terminal.wf("session", "step", session_id, "--json").json["pending_calls"]]
    assert [line for line in lines if line.startswith("call_")] == tokens
    for words in ("external worker", "wf session complete TOKEN FILE", "wf session fail TOKEN", "waiting", session_id):
        assert words in made.stdout
    for token in tokens:
        assert terminal.wf("session", "complete", token, "-", given="there").status == 0
    ended = terminal.wf("session", "resume", session_id)
    assert ended.status == 0
    assert ended.stdout.index("the model is given") < ended.stdout.index("the model answers")
    assert "- remote_b: there" in ended.stdout
    assert work.made == ["local"]


def test_json_is_exactly_what_the_tool_answers(terminal: Terminal) -> None:
    session_id, _ = waits(terminal)
    for verb in ("step", "pause", "resume", "run-isolated"):
        told = terminal.wf("session", verb, session_id, "--json")
        assert (told.status, told.json["status"], told.json["session_id"]) == (3, "waiting", session_id)
        assert "conversation" not in told.json
        assert told.stderr == ""


def test_pending_lists_tool_call_id_token_and_disposition(terminal: Terminal) -> None:
    session_id, tokens = waits(terminal)
    table = terminal.wf("session", "pending", session_id)
    assert table.status == 0
    rows = [line.split() for line in table.stdout.splitlines() if "call_" in line]
    assert [row[:4] for row in rows] == [
        [tokens["remote_a"], "remote_a", "t2.1", "defer:"],
        [tokens["remote_b"], "remote_b", "t2.2", "defer:"],
    ]
    page = terminal.wf("session", "pending", session_id, "--limit", "1", "--json").json
    rest = terminal.wf("session", "pending", session_id, "--cursor", page["next_cursor"], "--json").json
    assert [item["call"]["token"] for item in (*page["pending"], *rest["pending"])] == list(tokens.values())
    assert "Nothing waits." in terminal.wf("session", "pending", started(terminal)).stdout


@pytest.mark.parametrize(
    ("data", "result"),
    [
        (b'{"type": "text", "content": "42"}', {"type": "text", "content": "42"}),
        (b'{"type":"json","content":{"a":[1,null]}}\n', {"type": "json", "content": {"a": [1, None]}}),
        (
            b'{"type":"media","mimeType":"image/png","base64Data":"AAAA"}',
            {"type": "media", "mime_type": "image/png", "base64_data": "AAAA"},
        ),
        (b'{"type":"text","content":"no","error":true}', {"type": "text", "content": "no", "error": True}),
        (b"42\n", {"type": "text", "content": "42\n"}),
        (b'{"ok": 1}', {"type": "text", "content": '{"ok": 1}'}),
        (b'{"type": "text"', {"type": "text", "content": '{"type": "text"'}),
        (b'{"type":"json","content":NaN}', {"type": "text", "content": '{"type":"json","content":NaN}'}),
        (b"", {"type": "text", "content": ""}),
        (b"\xef\xbb\xbfplain", {"type": "text", "content": "plain"}),
        (b'\xef\xbb\xbf{"type": "text", "content": "42"}', {"type": "text", "content": "42"}),
        (b"\x89PNG\x00\xff", {"type": "text", "content": "\ufffdPNG\x00\ufffd"}),
    ],
)  # fmt: skip
def test_a_result_file_is_json_that_says_what_it_is_or_any_text(
    tmp_path: Path, data: bytes, result: dict[str, object]
) -> None:
    terminal = Terminal(desk(tmp_path, [asks("remote_a"), {"text": "Done."}]).folder)
    session_id, tokens = waits(terminal)
    (tmp_path / "result").write_bytes(data)
    delivered = terminal.wf("session", "complete", tokens["remote_a"], str(tmp_path / "result"))
    assert (delivered.status, f"wf session resume {session_id}" in delivered.stdout) == (0, True)
    assert given(terminal, session_id) == [result]


def test_a_result_comes_from_stdin_too_and_a_file_that_is_not_there_is_named(
    terminal: Terminal, tmp_path: Path
) -> None:
    _, tokens = waits(terminal)
    told = terminal.wf("session", "complete", tokens["remote_a"], "-", "--json", given='{"type":"text","content":"x"}')
    assert (told.status, [call["name"] for call in told.json["pending_calls"]]) == (0, ["remote_b"])
    for missing in (str(tmp_path / "nothing"), str(tmp_path)):
        refused = terminal.wf("session", "complete", tokens["remote_b"], missing)
        assert (refused.status, missing in refused.stderr) == (2, True)
    assert "1 more to come" in terminal.wf("session", "complete", waits(terminal)[1]["remote_a"], "-", given="x").stdout


def test_a_call_that_has_its_answer_takes_no_other(terminal: Terminal) -> None:
    session_id, tokens = waits(terminal)
    assert terminal.wf("session", "fail", tokens["remote_a"], "--error", "no line").status == 0
    for verb in (("complete", tokens["remote_a"], "-"), ("fail", tokens["remote_a"]), ("approve", tokens["remote_a"])):
        again = terminal.wf("session", *verb, given="late")
        assert (again.status, "call_already_completed" in again.stderr) == (2, True)
    unknown = terminal.wf("session", "complete", "call_nothing", "-", "--json", given="x")
    assert (unknown.status, unknown.json["error"]["code"]) == (2, "call_not_found")
    terminal.wf("session", "complete", tokens["remote_b"], "-", given="there")
    shown = terminal.wf("session", "resume", session_id).stdout
    assert "✗  remote_a  no line" in shown


def test_a_person_approves_or_refuses(tmp_path: Path) -> None:
    work = desk(tmp_path, [asks(("pay", {"amount": 5})), {"text": "{{results}}"}], {"pay": APPROVE})
    terminal = Terminal(tmp_path)
    session_id, tokens = waits(terminal)
    shown = terminal.wf("session", "step", session_id).stdout
    assert "a person's approval (costs money)" in shown
    assert "wf session approve TOKEN" in shown
    forged = terminal.wf("session", "complete", tokens["pay"], "-", given='{"receipt": "forged"}')
    assert (forged.status, "wrong_answer_kind" in forged.stderr, work.made) == (2, True, [])
    assert terminal.wf("session", "approve", tokens["pay"]).status == 0
    assert "r-1" in terminal.wf("session", "resume", session_id).stdout
    assert work.made == ["pay 5"]


def test_isolated_calls_are_carried_out_by_a_command_of_their_own(tmp_path: Path) -> None:
    work = desk(tmp_path, [asks("remote_a"), {"text": "{{results}}"}], {"remote_a": ISOLATE})
    terminal = Terminal(tmp_path)
    session_id, _ = waits(terminal)
    assert f"wf session run-isolated {session_id}" in terminal.wf("session", "pause", session_id).stdout
    made = terminal.wf("session", "run-isolated", session_id)
    assert ("remote_a" in made.stdout, work.made) == (True, ["remote_a"])
    assert "a: bread" in terminal.wf("session", "resume", session_id).stdout
    assert work.made == ["remote_a"]


def test_exit_statuses_tell_a_script_where_a_session_stands(tmp_path: Path) -> None:
    work = desk(tmp_path, [{"text": "Hello."}])
    terminal = Terminal(tmp_path)
    session_id = started(terminal)
    assert terminal.wf("session", "resume", session_id).status == 0
    assert terminal.wf("session", "resume", session_id, "--prompt", "And?").status == 1  # the script has no more
    assert "model_unusable" in terminal.wf("session", "resume", session_id).stdout
    work.agent(tools=["files.*"])
    unrunnable = terminal.wf("session", "start", "--agent", "helper", "--prompt", "Go.", "--json")
    assert (unrunnable.status, unrunnable.json["status"]) == (4, "unrunnable")
    work.agent()
    (tmp_path / "ops.py").unlink()
    assert "session_blocked" in terminal.wf("session", "resume", session_id).stderr
    assert terminal.wf("session", "resume", session_id).status == 4
    assert terminal.wf("session", "show", session_id).status == 0


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("start", "--agent", "nobody", "--prompt", "Go."), "agent_not_found"),
        (("start", "--agent", "./nothing.json", "--prompt", "Go."), "invalid_agent"),
        (("start", "--agent", "helper"), "invalid_argument"),
        (("start", "--agent", "helper", "--prompt", " "), "invalid_argument"),
        (("start", "--agent", "helper", "--prompt", "x", "--file", "nothing"), "invalid_argument"),
        (("step", "sess_nothing"), "session_not_found"),
        (("resume", "sess_nothing", "--prompt", "x"), "session_not_found"),
        (("show", "../x"), "session_not_found"),
        (("list", "--cursor", "x"), "invalid_argument"),
        (("list", "--limit", "0"), "invalid_argument"),
        (("pending", "sess_nothing"), "session_not_found"),
        (("fork", "sess_nothing"), "session_not_found"),
        (("delete", "sess_nothing"), "session_not_found"),
    ],
)
def test_what_is_wrong_is_said_and_ends_with_status_two(terminal: Terminal, words: tuple[str, ...], code: str) -> None:
    refused = terminal.wf("session", *words, "--json")
    assert (refused.status, refused.json["error"]["code"]) == (2, code)
    assert code in refused.stderr


def test_sessions_are_listed_shown_forked_and_deleted(terminal: Terminal) -> None:
    session_id, tokens = waits(terminal)
    assert [word in terminal.wf("session", "list").stdout for word in (session_id, "waiting", "helper")] == [True] * 3
    assert "No sessions." in terminal.wf("session", "list", "--status", "failed").stdout
    shown = terminal.wf("session", "show", session_id).stdout
    for words in ("Go.", "Three things.", "remote_a (deferred)", tokens["remote_b"], f"wf session resume {session_id}"):
        assert words in shown
    assert "Three things." not in terminal.wf("session", "show", session_id, "--turns", "1").stdout
    copy = terminal.wf("session", "fork", session_id).stdout.strip()
    as_json: Ended = terminal.wf("session", "fork", session_id, "--json")
    assert len({copy, session_id, as_json.json["session_id"]}) == 3
    assert terminal.wf("session", "delete", session_id).stdout == f"deleted {session_id}\n"
    assert terminal.wf("session", "show", session_id).status == 2
    assert terminal.wf("session", "show", copy).status == 0


def test_words_and_files_are_sent_along(tmp_path: Path) -> None:
    terminal = Terminal(desk(tmp_path, [{"text": "Seen."}]).folder)
    (tmp_path / "notes.md").write_text("# Notes", encoding="utf-8")
    ended = terminal.wf("session", "start", "--agent", "helper", "--file", str(tmp_path / "notes.md"), "--json")
    assert ended.status == 0
    assert "Seen." in terminal.wf("session", "resume", ended.json["session_id"]).stdout


def test_what_kind_a_file_is_follows_from_its_name_else_from_its_bytes(tmp_path: Path) -> None:
    files = {"a.png": b"\x89PNG", "b.md": b"# x", "LICENSE": "§".encode(), "blob": b"\xff\x00"}
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    odd = tmp_path / os.fsdecode(b"\xff.txt")
    odd.write_bytes(b"x")
    sent = attachments([tmp_path / name for name in files] + [odd])
    kinds = ["image/png", "text/markdown", "text/plain", "application/octet-stream", "text/plain"]
    assert [one.mime_type for one in sent] == kinds
    assert [base64.b64decode(one.base64_data) for one in sent] == [*files.values(), b"x"]
    assert json.dumps([one.filename for one in sent], ensure_ascii=False).encode()
    with pytest.raises(InvalidArgument, match="nothing"):
        attachments([tmp_path / "nothing"])


def test_a_path_is_told_from_the_name_of_an_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agent").touch()
    assert agent_of("helper") == "helper"
    assert agent_of("a" * 5000) == "a" * 5000
    assert [agent_of(text) for text in ("helper.json", "./helper", "agent")] == [
        Path("helper.json"), Path("helper"), Path("agent"),
    ]  # fmt: skip
