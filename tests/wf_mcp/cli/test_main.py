"""The program `wf` as a whole."""

import subprocess
import sys
from importlib.metadata import version

from tests.wf_mcp.cli.terminal import Terminal
from wf_mcp.cli.main import NOUNS


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
