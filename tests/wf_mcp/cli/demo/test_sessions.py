"""The demo of a session: what goes wrong in it. That it plays as it should is a story, `tests/stories`."""

from pathlib import Path

import pytest
from rich.console import Console

from tests.wf_mcp.cli.terminal import Terminal
from wf_mcp.cli import samples
from wf_mcp.cli.demo.sessions import SessionStory, StepFailed
from wf_mcp.cli.place import Place


def test_a_folder_in_use_is_not_worked_in(tmp_path: Path) -> None:
    (tmp_path / "wf.json").write_text("mine", encoding="utf-8")

    ended = Terminal(tmp_path).wf("demo", "--session", "--into", str(tmp_path))

    assert (ended.status, "already has wf.json" in ended.stderr) == (2, True)
    assert [path.name for path in tmp_path.iterdir()] == ["wf.json"]


def test_a_step_that_fails_says_which_and_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here the sample lacks its script, so that the model has no answer."""
    write = samples.write_session_sample

    def without_script(target: Path) -> list[Path]:
        written = write(target)
        (target / "answers.json").unlink()
        return written

    monkeypatch.setattr(samples, "write_session_sample", without_script)
    out = Console(width=200, color_system=None)
    with out.capture() as captured, pytest.raises(StepFailed, match="Step 2 ended with status 1"):
        SessionStory(out, Place(home=tmp_path / "home", config=tmp_path / "wf.json"), tmp_path).tell()
    assert "2. ask the model" in captured.get()
