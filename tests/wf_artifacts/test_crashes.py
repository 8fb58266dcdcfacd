"""A process may be killed at any moment: what it was doing is done or undone, and whoever comes next can go on."""

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from tests.wf_artifacts.crashes import STORY


@pytest.mark.timeout(180)
@pytest.mark.parametrize(
    ("url", "moments"), [("file://{home}", 400), ("sqlite:///{home}/wf.db", 40)], ids=["file", "sqlite"]
)
def test_a_process_killed_at_any_moment_leaves_the_state_before_or_after(
    memory_folder: Path, url: str, moments: int
) -> None:
    """Everything acknowledged is there, lists and claims work, and nothing temporary is left behind."""
    told = subprocess.run(
        [sys.executable, "-m", "tests.wf_artifacts.crashes", str(memory_folder), url],
        capture_output=True,
        check=True,
        timeout=170,
    )
    crashes: list[dict[str, Any]] = json.loads(told.stdout)
    after = {crash["act"]: crash["after"] for crash in crashes if "after" in crash}
    assert len(after) == len(STORY)
    ends: dict[str, set[str]] = defaultdict(set)
    for crash in crashes:
        if "after" not in crash:
            assert crash["left"] == []
            assert crash["before"] or crash["picture"] == after[crash["act"]]
            ends[crash["act"]].add("before" if crash["before"] else "after")
    assert ends == {act: {"before", "after"} for act in after}
    assert len(crashes) > moments
