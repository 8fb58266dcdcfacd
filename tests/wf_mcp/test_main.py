"""The program `wf-mcp`: its options and how it ends."""

import subprocess
import sys
from pathlib import Path

import pytest

from wf_mcp.__main__ import main


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--http", "0.0.0.0:80"], "who may use the server cannot be configured yet"),
        (["--toolsets", "run"], "'run' is no toolset; there is runs"),
        (["--toolsets", ""], "'' is no toolset; there is runs, authoring"),
    ],
)
def test_wrong_options_are_refused_with_what_would_be_right(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)

    assert ended.value.code == 2
    assert said in " ".join(capsys.readouterr().err.split())


def test_a_configuration_that_cannot_be_used_is_said_on_stderr_without_a_stack_trace(tmp_path: Path) -> None:
    (tmp_path / "wf.json").write_text('{"pythonSource": {}}', encoding="utf-8")

    ended = subprocess.run(
        [sys.executable, "-m", "wf_mcp", "--home", str(tmp_path / "home")],
        cwd=tmp_path,
        input="",
        capture_output=True,
        text=True,
        check=False,
    )

    assert ended.returncode == 2
    assert ended.stdout == ""
    assert "pythonSources" in ended.stderr
    assert "Traceback" not in ended.stderr
