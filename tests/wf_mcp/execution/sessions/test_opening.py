"""The models and runners of agents, wherever their definitions came from."""

from pathlib import Path

import pytest

from tests.wf_mcp.execution.sessions.workplace import agent, saying, tool
from tests.wf_mcp.scripted import ScriptedSource, opened
from wf_core.calls.policy import IsolationSpec
from wf_mcp.execution.calls.protocol import Target
from wf_mcp.llm import ModelFailed

pytestmark = pytest.mark.anyio

ECHO = Target.of(tool("echo"))


async def test_a_model_is_opened_once_for_each_folder(tmp_path: Path) -> None:
    async with opened() as app:
        here, there = agent(tmp_path / "a", [saying("a")]), agent(tmp_path / "b", [saying("b")])
        open_model = app.sessions.means.open_model
        assert open_model(here) is open_model(here)
        assert open_model(here) is not open_model(there)
        with pytest.raises(ModelFailed):
            open_model(agent(tmp_path, [], model="nobody"))


async def test_what_keeps_an_agent_from_going_on_is_named(tmp_path: Path) -> None:
    ops = ScriptedSource()
    async with opened(ops) as app:
        snapshot = agent(tmp_path, [], "echo")
        assert await app.sessions.means.missing(snapshot) == []
        ops.acts = {}
        (issue,) = await app.sessions.means.missing(snapshot)
        assert issue["code"] == "capability_not_found"


async def test_a_runner_is_given_where_the_agent_or_the_policy_names_one(tmp_path: Path) -> None:
    async with opened(ScriptedSource()) as app:
        runner = app.sessions.means.runner
        bare = agent(tmp_path, [], "echo")
        assert runner(bare, IsolationSpec(), ECHO) is None
        assert runner(bare, IsolationSpec("process"), ECHO) is None
        command = {"sandbox": "process", "command": ["./worker.sh"]}
        assert runner(agent(tmp_path, [], "echo", runner=command), IsolationSpec(), ECHO) is not None
        limits = agent(tmp_path, [], "echo", runner={"memory": "1m"})
        assert runner(limits, IsolationSpec(), ECHO) is None
        for spec in (
            IsolationSpec(image="local/worker:1"),
            IsolationSpec(options={"url": "http://127.0.0.1:1/"}),
            IsolationSpec(options={"command": ["./worker.sh"]}),
        ):
            assert runner(bare, spec, ECHO) is not None
            assert runner(limits, spec, ECHO) is not None
        broken = agent(tmp_path, [], "echo", runner={"sandbox": "nowhere"})
        assert runner(broken, IsolationSpec(), ECHO) is None
