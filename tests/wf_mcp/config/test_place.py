"""The home of a program, and the configuration that holds there."""

from pathlib import Path

import pytest

from wf_mcp.config import InvalidConfig
from wf_mcp.config.place import configuration, default_home


def test_the_home_is_named_by_the_environment_or_by_the_system() -> None:
    assert default_home({"WF_HOME": "/srv/flows"}) == Path("/srv/flows")
    assert default_home({}).name == "wf-mcp"


def test_a_folder_that_is_gone_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(InvalidConfig, match="is gone"):
        configuration(tmp_path / "home")
