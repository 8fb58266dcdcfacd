"""`wf demo`: its options."""

from pathlib import Path

import pytest

from tests.wf_mcp.cli.terminal import Terminal
from wf_mcp.cli.demo.command import longest_note
from wf_mcp.errors import InvalidArgument


def test_the_longest_note_of_a_folder_is_taken(tmp_path: Path) -> None:
    (tmp_path / "short.md").write_text("short", encoding="utf-8")
    (tmp_path / "long.md").write_text("long " * 100, encoding="utf-8")
    (tmp_path / "longest.txt").write_text("no Markdown " * 100, encoding="utf-8")

    assert longest_note(tmp_path) == "long.md"


def test_a_folder_without_notes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="no Markdown file"):
        longest_note(tmp_path)


def test_a_folder_in_use_is_not_worked_in(terminal: Terminal) -> None:
    ended = terminal.wf("demo", "--into", str(terminal.folder), "--yes")

    assert ended.status == 2
    assert "already has ops.py" in ended.stderr
