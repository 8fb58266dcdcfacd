"""`wf demo`: its options."""

import os
from pathlib import Path

import pytest

from tests.wf_mcp.cli.terminal import Terminal
from wf_mcp.cli.demo.command import longest_note
from wf_mcp.errors import InvalidArgument


def test_the_longest_note_of_a_folder_is_taken(tmp_path: Path) -> None:
    (tmp_path / "short.md").write_text("short", encoding="utf-8")
    (tmp_path / "long.md").write_text("long " * 100, encoding="utf-8")
    (tmp_path / "longest.txt").write_text("no Markdown " * 100, encoding="utf-8")
    (tmp_path / "folder.md").mkdir()
    (tmp_path / os.fsdecode(b"\xff.md")).write_text("no name " * 1000, encoding="utf-8")

    assert longest_note(tmp_path) == "long.md"


def test_a_folder_without_notes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="no Markdown file"):
        longest_note(tmp_path)


def test_a_note_that_is_not_there_is_refused_before_anything_is_made(terminal: Terminal) -> None:
    (terminal.folder / "x.md").mkdir()
    for name in ("x.md", "y.md"):
        ended = terminal.wf("demo", "--folder", str(terminal.folder), "--note", name, "--into", "work", "--yes")
        assert (ended.status, f"no file {name}" in ended.stderr) == (2, True)


def test_a_folder_in_use_is_not_worked_in(terminal: Terminal) -> None:
    ended = terminal.wf("demo", "--into", str(terminal.folder), "--yes")

    assert ended.status == 2
    assert "already has ops.py" in ended.stderr
