"""A process may be killed at any moment: what it was doing is done or undone, and whoever comes next can go on."""

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from tests.wf_artifacts.calls.crashes import CALLS_STORY
from tests.wf_artifacts.crashes import RUNS, Story
from tests.wf_artifacts.sessions.crashes import SESSIONS

STORIES = {
    "tests.wf_artifacts.crashes": RUNS,
    "tests.wf_artifacts.sessions.crashes": SESSIONS,
    "tests.wf_artifacts.calls.crashes": CALLS_STORY,
}


@pytest.mark.timeout(180)
@pytest.mark.parametrize(
    ("module", "url", "moments"),
    [
        ("tests.wf_artifacts.crashes", "file://{home}", 400),
        ("tests.wf_artifacts.crashes", "sqlite:///{home}/wf.db", 40),
        ("tests.wf_artifacts.sessions.crashes", "file://{home}", 130),
        ("tests.wf_artifacts.sessions.crashes", "sqlite:///{home}/wf.db", 40),
        ("tests.wf_artifacts.calls.crashes", "file://{home}", 200),
        ("tests.wf_artifacts.calls.crashes", "sqlite:///{home}/wf.db", 60),
    ],
    ids=["runs-file", "runs-sqlite", "sessions-file", "sessions-sqlite", "calls-file", "calls-sqlite"],
)
def test_a_process_killed_at_any_moment_leaves_the_state_before_or_after(
    memory_folder: Path, module: str, url: str, moments: int
) -> None:
    """Everything acknowledged is there, lists and claims work, and nothing temporary is left behind."""
    told = subprocess.run(
        [sys.executable, "-m", module, str(memory_folder), url], capture_output=True, check=True, timeout=170
    )
    crashes: list[dict[str, Any]] = json.loads(told.stdout)
    after = {crash["act"]: crash["after"] for crash in crashes if "after" in crash}
    story: Story = STORIES[module]
    assert len(after) == len(story.acts)
    ends: dict[str, set[str]] = defaultdict(set)
    for crash in crashes:
        if "after" not in crash:
            assert crash["left"] == []
            assert crash["before"] or crash["picture"] == after[crash["act"]]
            ends[crash["act"]].add("before" if crash["before"] else "after")
    assert ends == {act: {"before", "after"} for act in after}
    assert len(crashes) > moments
