"""What it takes to advance sessions, where little is given."""

from pathlib import Path

import pytest

from tests.wf_mcp.execution.sessions.workplace import agent, tool
from wf_artifacts.clock import SystemClock
from wf_artifacts.stores import open_stores
from wf_core.calls.policy import IsolationSpec
from wf_mcp.execution.calls.protocol import Target
from wf_mcp.execution.sessions.means import SessionMeans
from wf_mcp.llm import ModelFailed, ModelProvider

pytestmark = pytest.mark.anyio


async def test_nothing_is_missing_and_nothing_is_isolated_unless_somebody_says_so(tmp_path: Path) -> None:
    def no_model(agent: object) -> ModelProvider:
        raise ModelFailed("model_unusable", "There is none.")

    stores, snapshot = open_stores("memory://"), agent(tmp_path, [])
    means = SessionMeans(stores.sessions, stores.continuations, stores.cache, SystemClock(), lambda: 7, dict, no_model)
    assert await means.missing(snapshot) == ()
    assert means.runner(snapshot, IsolationSpec("process"), Target.of(tool("echo"))) is None
