"""The workers that we ship, as programs: the one for Python sources, and the one that needs a shell and awk alone."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.wf_mcp.isolation.engine import SHELL_WORKER
from wf_core.calls.envelope import read_response
from wf_core.calls.results import JsonContent, TextContent, ToolResult, as_text

OPS = """
import os, subprocess, sys, threading, time
from wf_core import CallContext, Outcome, capability

@capability(read_only=True)
def word_count(text: str) -> int:
    print("printed")
    sys.stdout.write("written\\n")
    os.write(1, b"raw\\n")
    subprocess.run(["echo", "from a child"])
    return len(text.split())

@capability()
def lingers() -> str:
    threading.Thread(target=time.sleep, args=(600,)).start()
    return "done"

@capability(outcomes=("ok", "rejected", "error"))
async def choose(how: str, context: CallContext) -> dict[str, str]:
    if how == "raise":
        raise ValueError("no such choice")
    return Outcome(how, {"run": context.run_id, "key": context.idempotency_key})

@capability()
def odd() -> object:
    return float("nan")

@capability(read_only=True)
def reads_odd() -> object:
    return float("nan")
"""

MAYBE = "It may have had its effect."


def envelope(name: str, arguments: Any, **more: Any) -> bytes:
    context = {"sessionId": "sess_1", "runId": None, "turnId": "t1"}
    call = {"name": name, "arguments": arguments}
    return json.dumps({"token": "tok", "toolCall": call, "contextSnapshot": context, **more}).encode()


def python_worker(folder: Path, request: bytes, *options: str) -> subprocess.CompletedProcess[bytes]:
    (folder / "ops.py").write_text(OPS)
    (folder / "lib").mkdir(exist_ok=True)
    (folder / "lib" / "texts.py").write_text(
        "from wf_core import capability\n@capability()\ndef word_count(text: str) -> str:\n    return text\n"
    )
    command = [sys.executable, "-m", "wf_mcp.isolation.worker", *(options or ("--module", "ops", "--path", "."))]
    return subprocess.run(command, cwd=folder, input=request, capture_output=True, check=False, timeout=50)


def result(done: subprocess.CompletedProcess[bytes]) -> ToolResult:
    assert done.returncode == 0, done.stderr
    return read_response(done.stdout, "tok")


def test_whatever_the_module_prints_is_no_part_of_the_answer(tmp_path: Path) -> None:
    done = python_worker(tmp_path, envelope("word_count", {"text": "a b"}))
    assert result(done) == ToolResult(JsonContent({"result": 2}))
    assert {b"printed", b"written", b"raw", b"from a child"} <= set(done.stderr.splitlines())


def test_several_modules_are_served_and_told_apart(tmp_path: Path) -> None:
    options = ("--module", "ops", "--path", ".", "--module", "t.x=texts", "--path", "lib")
    for name, expected in (("t.x.word_count", "a b"), ("t_x_word_count", "a b"), ("ops.word_count", 2)):
        done = python_worker(tmp_path, envelope(name, {"text": "a b"}), *options)
        assert result(done) == ToolResult(JsonContent({"result": expected}))
    unclear = result(python_worker(tmp_path, envelope("word_count", {"text": "a"}), *options))
    assert unclear.error
    named = python_worker(tmp_path, envelope("count", {"text": "a"}), *options, "--capability", "ops.word_count")
    assert result(named) == ToolResult(JsonContent({"result": 1}))


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("ok", ToolResult(JsonContent({"run": "sess_1", "key": "tok"}))),
        ("rejected", ToolResult(JsonContent({"outcome": "rejected", "output": {"run": "sess_1", "key": "tok"}}))),
        ("error", ToolResult(TextContent('capability_error: {"run":"sess_1","key":"tok"}'), error=True)),
        ("raise", ToolResult(TextContent(f"capability_error: ValueError: no such choice {MAYBE}"), error=True)),
    ],
)
def test_outcomes_and_failures_are_told(tmp_path: Path, how: str, expected: ToolResult) -> None:
    assert result(python_worker(tmp_path, envelope("choose", {"how": how}))) == expected


@pytest.mark.parametrize(
    ("name", "arguments", "code", "effect"),
    [
        ("odd", {}, "output_invalid", MAYBE),
        ("reads_odd", {}, "output_invalid", "It had no effect."),
        ("no_such", {}, "capability_not_found", "It had no effect."),
        ("odd", [], "input_invalid", "It had no effect."),
    ],
)
def test_a_failure_says_whether_the_call_may_have_had_its_effect(
    tmp_path: Path, name: str, arguments: Any, code: str, effect: str
) -> None:
    told = as_text(result(python_worker(tmp_path, envelope(name, arguments))))
    assert told.startswith(f"{code}: ")
    assert told.endswith(f" {effect}")


def test_a_thread_that_goes_on_does_not_keep_the_process(tmp_path: Path) -> None:
    assert result(python_worker(tmp_path, envelope("lingers", {}))) == ToolResult(JsonContent({"result": "done"}))


@pytest.mark.parametrize("request_", [b"", b"{", b"[]", b'{"token": "tok"}'])
def test_what_is_no_envelope_is_not_answered(tmp_path: Path, request_: bytes) -> None:
    done = python_worker(tmp_path, request_)
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr


SHELLS = [pytest.param(shell, id=" ".join(shell)) for shell in (["sh"], ["busybox", "sh"], ["bash", "--posix"])]


def shell_worker(shell: list[str], folder: Path, request: bytes, tools: dict[str, str]) -> ToolResult:
    if shutil.which(shell[0]) is None:
        pytest.skip(f"{shell[0]} is not installed")
    for name, script in tools.items():
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
    command = [*shell, str(SHELL_WORKER), str(folder)]
    environ = {"PATH": os.environ["PATH"]}
    return result(subprocess.run(command, input=request, capture_output=True, check=False, timeout=50, env=environ))


@pytest.mark.parametrize("shell", SHELLS)
def test_the_shell_worker_passes_arguments_on_and_answers(shell: list[str], tmp_path: Path) -> None:
    tools = {"say": 'printf \'%s|\' "$ARG_text" "$ARG_count" "$ARG_yes" "${ARG_none-unset}" "${ARG_deep-unset}"; cat'}
    arguments: dict[str, Any] = {
        "text": 'Zoë\'s "quote" \\ $(id) `id` 😀\n\ttab \x01 end',
        "count": -1.5e3,
        "yes": True,
        "none": None,
        "deep": {"text": "inner", "list": [1, {"a": []}]},
        "no-name; id": "x",
    }
    request = envelope("say", arguments)
    text = f"{arguments['text']}|-1500.0|true|unset|unset|"
    answered = shell_worker(shell, tmp_path, request, tools)
    assert isinstance(answered.content, TextContent)
    shown, _, given = answered.content.content.partition("unset|unset|")
    assert f"{shown}unset|unset|" == text
    assert json.loads(given) == arguments


@pytest.mark.parametrize("shell", SHELLS)
def test_the_shell_worker_gives_json_and_failures(shell: list[str], tmp_path: Path) -> None:
    tools = {"list.json": "echo '[1, {\"a\": null}]'", "fails": "echo because; exit 4"}
    listed = shell_worker(shell, tmp_path, envelope("list", {}), tools)
    assert listed == ToolResult(JsonContent([1, {"a": None}]))
    failed = shell_worker(shell, tmp_path, envelope("fails", {}), tools)
    assert failed == ToolResult(TextContent("capability_error: fails ended with exit status 4: because"), error=True)


@pytest.mark.parametrize("name", ["missing", "../secret", ".hidden", "", "a b", "$(id)", "'; id; '"])
def test_the_shell_worker_runs_nothing_outside_its_folder(name: str, tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    tools = {"../secret": "echo no", ".hidden": "echo no", "a b": "echo no"}
    refused = shell_worker(["sh"], tmp_path / "tools", envelope(name, {}), tools)
    assert refused == ToolResult(TextContent(f"capability_not_found: There is no tool '{name}'."), error=True)


@pytest.mark.parametrize(
    "request_", [b"", b"{", b'{"token": "x"', b'{"toolCall": {"name": "a"}}', b'{"token" "x"}', b"{]"]
)
def test_the_shell_worker_answers_no_envelope_with_a_failure(request_: bytes, tmp_path: Path) -> None:
    command = ["sh", str(SHELL_WORKER), str(tmp_path)]
    done = subprocess.run(command, input=request_, capture_output=True, check=False, timeout=50)
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"worker.sh: the envelope" in done.stderr
