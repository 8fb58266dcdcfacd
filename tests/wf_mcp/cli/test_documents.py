"""JSON on the command line."""

import io
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.wf_mcp.cli.terminal import Terminal
from tests.wf_mcp.desk import desk
from wf_mcp.cli import documents
from wf_mcp.cli.documents import read_file, read_json, read_object, read_plan, read_stdin
from wf_mcp.errors import InvalidArgument


def test_json_is_written_out_or_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "value.json"
    file.write_text("[1, 18446744073709551616]", encoding="utf-8")

    assert read_json('{"a": null}', name="--input") == {"a": None}
    assert read_json(f"@{file}", name="--input") == [1, 2**64]


@pytest.mark.parametrize("text", ["{", "NaN", '{"a": 1, "a": 2}', "", '"\\ud800"'])
def test_what_is_no_strict_json_is_refused_by_the_name_of_the_argument(text: str) -> None:
    with pytest.raises(InvalidArgument, match=r"^--input is no JSON: "):
        read_json(text, name="--input")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match=r"nothing\.json cannot be read: No such file"):
        read_json(f"@{tmp_path / 'nothing.json'}", name="--input")


def test_an_object_is_asked_for() -> None:
    with pytest.raises(InvalidArgument, match="must be a JSON object"):
        read_object("[]", name="--input")


def test_a_plan_may_be_named_by_its_file(tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    file.write_text('{"name": "x"}', encoding="utf-8")

    assert read_plan(str(file)) == read_plan(f"@{file}") == read_plan('{"name": "x"}') == {"name": "x"}


COMMANDS: list[tuple[str, ...]] = [
    ("agent", "run", "FILE", "--prompt", "x"),
    ("agent", "run", "helper", "--prompt", "x", "--file", "FILE"),
    ("session", "start", "--agent", "FILE", "--prompt", "x"),
    ("session", "start", "--agent", "helper", "--prompt", "x", "--file", "FILE"),
    ("session", "resume", "sess_1", "--file", "FILE"),
    ("session", "complete", "call_1", "FILE"),
    ("calls", "complete", "call_1", "@FILE"),
    ("capabilities", "call", "wf.std.now", "@FILE"),
    ("plan", "validate", "FILE"),
    ("artifacts", "save", "a", "FILE"),
    ("deployments", "create", "a", "a", "--call-policy", "@FILE"),
    ("runs", "start", "a", "--input", "@FILE"),
    ("runs", "resume", "run_1", "--payload", "@FILE"),
    ("--config", "FILE", "sources", "list"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_no_command_waits_for_a_file_without_end_or_fills_the_memory_with_it(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    """Whatever a person names as a file: a pipe that nobody writes to, a folder, a device, more than is ever taken."""
    desk(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with (tmp_path / "huge.json").open("wb") as huge:
        huge.truncate(2**40)
    named = {
        str(tmp_path / "pipe"): "a pipe that nobody writes to",
        str(tmp_path): "Is a directory",
        "/dev/zero": "a device, no file",
        str(tmp_path / "huge.json"): "holds more than",
    }
    for path, said in named.items():
        ended = Terminal(tmp_path).wf(*(word.replace("FILE", path) for word in command))
        told = " ".join((ended.stdout + ended.stderr).split())
        assert (ended.status, said in told) == (2, True), told


def test_a_file_may_be_larger_than_what_an_agent_is_described_in(tmp_path: Path) -> None:
    file = tmp_path / "large"
    file.write_bytes(b"x" * 17_000_000)
    assert len(read_file(file)) == 17_000_000


def test_standard_input_is_read_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "MOST_BYTES", 3)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"123")))
    assert read_stdin() == b"123"
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"1234")))
    with pytest.raises(InvalidArgument, match="Standard input holds more than 3 bytes"):
        read_stdin()
