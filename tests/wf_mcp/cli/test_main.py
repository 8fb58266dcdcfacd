"""The program `wf` as a whole."""

import json
import logging
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.wf_mcp.cli.terminal import Terminal
from wf_mcp.cli import main
from wf_mcp.cli.main import NOUNS, Legible


def test_help_names_every_noun(terminal: Terminal) -> None:
    text = terminal.wf("--help").stdout

    assert all(noun in text for noun in NOUNS)


def test_help_imports_none_of_the_nouns() -> None:
    """So that it is there at once."""
    script = "import sys; from wf_mcp.cli.main import app; app(['--help'], standalone_mode=False)"
    check = f"{script}; assert 'wf_mcp.cli.runs' not in sys.modules; assert 'pydantic' not in sys.modules"

    subprocess.run([sys.executable, "-c", check], check=True, capture_output=True)


def test_an_unknown_command_is_a_usage_error(terminal: Terminal) -> None:
    ended = terminal.wf("rums")

    assert ended.status == 2
    assert "rums" in ended.stderr


def test_the_version_is_that_of_the_distribution(terminal: Terminal) -> None:
    assert terminal.wf("--version").stdout.strip() == version("wf-mcp")


def test_a_fault_while_something_is_shown_is_a_fault_of_ours(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise ZeroDivisionError("of all things")

    monkeypatch.setattr(main, "app", fail)

    with pytest.raises(SystemExit) as ended:
        main.main()

    assert ended.value.code == 70
    assert "error internal_error" in capsys.readouterr().err


def test_a_word_that_is_none_of_a_few_is_said_plainly(terminal: Terminal) -> None:
    said = terminal.wf("runs", "list", "--status", "done").stderr

    assert "Invalid value for '--status': 'done' is not one of" in " ".join(said.split())


def test_a_traceback_repeats_nothing_that_a_terminal_obeys() -> None:
    try:
        raise ValueError("\x1b[2J\u202e")
    except ValueError:
        record = logging.LogRecord("x", logging.ERROR, "", 0, "about \x9b", None, sys.exc_info())

    said = Legible().format(record)

    assert said.startswith("about \\x9b\nTraceback")
    assert said.endswith("ValueError: \\x1b[2J\\u202e")


def program(folder: Path, redirected: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run `wf` as a program of its own, through a shell that redirects its output."""
    start = f'exec "$0" -c "from wf_mcp.cli.main import main; main()" "$@" {redirected}'
    return subprocess.run(
        ["/bin/sh", "-c", start, sys.executable, "--home", str(folder / "home"), *arguments],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        check=False,
    )


ASCII = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}


def test_a_terminal_that_lacks_a_character_sees_the_rest(tmp_path: Path) -> None:
    ended = program(tmp_path, "", "capabilities", "list", **ASCII)
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert b"wf.std.constant" in ended.stdout


def test_json_is_exact_whatever_stdout_can_hold(tmp_path: Path) -> None:
    given = '{"value": "né"}'
    ended = program(tmp_path, "", "capabilities", "call", "wf.std.constant", given, "--json", **ASCII)
    assert json.loads(ended.stdout)["output"] == {"value": "né"}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
@pytest.mark.parametrize("as_json", [[], ["--json"]])
def test_output_that_cannot_be_written_is_said(tmp_path: Path, as_json: list[str]) -> None:
    ended = program(tmp_path, "> /dev/full", "capabilities", "list", *as_json)
    assert ended.returncode == 70
    assert ended.stderr == b"wf: the output cannot be written: No space left on device\n"


def test_a_reader_that_goes_away_is_no_matter(tmp_path: Path) -> None:
    ended = program(tmp_path, "| head -c 1", "capabilities", "list")
    assert b"Traceback" not in ended.stderr
