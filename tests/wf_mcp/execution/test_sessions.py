"""Sessions over real stores, advanced by real processes: killed at any moment, racing, many at once."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest


def told(module: str, *arguments: str) -> Any:
    """Run a module of this folder in a process of its own, and give what it says."""
    command = [sys.executable, "-m", f"tests.wf_mcp.execution.sessions.{module}", *arguments]
    return json.loads(subprocess.run(command, capture_output=True, check=True, timeout=170).stdout)


@pytest.mark.timeout(180)
@pytest.mark.parametrize(
    ("url", "every", "moments"), [("file://{home}", 4, 55), ("sqlite:///{home}/wf.db", 2, 30)], ids=["file", "sqlite"]
)
def test_a_process_killed_at_any_moment_makes_no_call_twice_and_loses_no_answer(
    memory_folder: Path, url: str, every: int, moments: int
) -> None:
    """A1, A2, A5, A22: what was done is told once; what may have been done is said, and not repeated unasked."""
    ended = told("crashes", str(memory_folder), url, str(every))
    assert ended["wrong"] == []
    assert ended["killed"] > moments
