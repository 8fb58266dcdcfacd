"""Paths that the system refuses."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.wf_mcp.cli.terminal import Terminal
from wf_mcp.cli.paths import check, named
from wf_mcp.errors import InvalidArgument

COMMANDS: Mapping[str, tuple[str, ...]] = {
    "home": ("--home", "PATH", "runs", "list"),
    "doctor": ("--home", "PATH", "doctor"),
    "config": ("--config", "PATH", "runs", "list"),
    "mcp-config": ("--config", "PATH", "mcp-config", "codex"),
    "init": ("init", "PATH"),
    "demo": ("demo", "--yes", "--into", "PATH"),
    "demo of a session": ("demo", "--session", "--into", "PATH"),
    "demo of a folder": ("demo", "--yes", "--folder", "PATH"),
    "plan": ("plan", "validate", "PATH"),
    "graph": ("plan", "graph", "PATH"),
    "save": ("artifacts", "save", "x", "PATH"),
    "input": ("capabilities", "call", "wf.std.constant", "@PATH"),
    "agent": ("agent", "run", "PATH", "--prompt", "x"),
    "file": ("session", "start", "--agent", "x", "--file", "PATH"),
    "result": ("session", "complete", "call_x", "PATH"),
    "copy": ("store", "copy", "file://PATH", "file://PATH/too"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("paths")
    (made / "file").touch()
    (made / "loop").symlink_to("circle")
    (made / "circle").symlink_to("loop")
    return made


@pytest.mark.parametrize("path", ["file/below", "loop", "loop/below", "n" * 300, "\udcff" * 200])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_path_that_is_none_is_an_error_of_whoever_named_it(folder: Path, command: str, path: str) -> None:
    """Known gap once: `wf init` into a folder that cannot be made ended with a traceback and 70."""
    words = [word.replace("PATH", str(folder / path)) for word in COMMANDS[command]]
    ended = Terminal(folder).wf(*words)
    assert "Traceback" not in ended.stderr
    assert "internal_error" not in ended.stderr
    assert ended.status in {0, 2, 4}


@pytest.mark.parametrize("path", ["/proc/nothing", "file", "file/below", "loop", "n" * 300])
def test_a_folder_that_cannot_be_made_is_said(folder: Path, path: str) -> None:
    ended = Terminal(folder).wf("init", str(folder / path))
    assert ended.status == 2
    assert "error invalid_argument" in ended.stderr
    assert "cannot be used" in ended.stderr


def test_a_folder_that_is_gone_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    for words in (("mcp-config", "codex"), ("init",)):
        assert Terminal(tmp_path / "elsewhere").wf(*words).status == 2


def test_what_is_refused_is_named_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match=r"^here cannot be used: It is no folder\."), named("here"):
        tmp_path.mkdir()
    with pytest.raises(InvalidArgument, match="File name too long"):
        check(tmp_path / ("n" * 300))
    check(tmp_path / "nothing")
