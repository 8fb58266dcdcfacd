"""Agents in Python: the combinators of the seeds, run without a server."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.wf_core.anything import nested
from tests.wf_mcp.execution.sessions.workplace import calling, saying, tokens, told
from tests.wf_mcp.scripted import ScriptedSource, echo
from wf_artifacts.stores import open_stores
from wf_core.calls.policy import Defer, Disposition, IsolationSpec, PolicyContext, RunIsolated, RunSync, ToolCall
from wf_core.calls.results import ToolResult, text_result
from wf_core.errors import InvalidResult
from wf_core.jsonvalue import MAX_DEPTH, dumps
from wf_mcp.agents import Agent, with_call_policy, with_durable_workflows, with_runner
from wf_mcp.execution.sessions.errors import AgentUnrunnable
from wf_mcp.execution.sessions.runner import AgentRunner

pytestmark = pytest.mark.anyio


def policy(context: PolicyContext, call: ToolCall) -> Disposition:
    """Run what is near, defer what is far, isolate the rest."""
    if call.name == "near":
        return RunSync()
    return Defer("external worker") if call.name == "far" else RunIsolated()


class Elsewhere:
    """A runner that answers at once."""

    name = "elsewhere"

    async def execute(
        self,
        spec: IsolationSpec,
        request: bytes,
        token: str,
        *,
        capability: str = "",
        timeout_seconds: float | None = None,
    ) -> ToolResult:
        return text_result(f"{json.loads(request)['toolCall']['name']} elsewhere")


def written(folder: Path, *answers: dict[str, Any]) -> Agent:
    (folder / "script.json").write_text(json.dumps({"answers": answers}))
    return Agent(slug="helper", model="scripted:script.json", tools=("ops.*",), folder=folder)


async def test_an_agent_of_python_defers_isolates_and_goes_on_in_another_process_over_its_stores(
    tmp_path: Path,
) -> None:
    ops = ScriptedSource(acts=dict.fromkeys(["near", "far", "hut"], echo))
    async with open_stores(f"file://{tmp_path / 'home'}") as stores:
        agent = written(tmp_path, calling("far", "near", "hut"), saying("{{results}}"))
        agent = with_durable_workflows(agent, stores.sessions, stores.continuations)
        agent = with_runner(with_call_policy(agent, policy), Elsewhere())
        async with AgentRunner.open(agent, sources=[ops]) as runner:
            waiting = await runner.run("Go.")
            session = waiting.record.session_id
            assert list(tokens(waiting)) == ["far", "hut"]
        async with AgentRunner.open(agent, sources=[ops]) as runner:
            await runner.complete(tokens(waiting)["far"], '{"type": "json", "content": [1]}')
            assert (await runner.run_isolated(session)).record.status == "ready"
            ended = await runner.resume(session)
    assert ended.record.status == "answered"
    assert told(ended) == ["far: [1]", "near: {}", "hut: hut elsewhere"]
    assert [name for name, _, _ in ops.calls] == ["near"]


async def test_a_person_allows_refuses_or_repeats_a_call_of_an_agent_of_python(tmp_path: Path) -> None:
    def ask(context: PolicyContext, call: ToolCall) -> Disposition:
        return Defer("it writes", approval=True)

    agent = with_call_policy(written(tmp_path, calling("echo", "echo"), saying("{{results}}")), ask)
    async with AgentRunner.open(agent, sources=[ScriptedSource()]) as runner:
        waiting = await runner.run("Go.")
        first, second = waiting.pending
        await runner.approve(first.token)
        await runner.fail(second.token, "No.")
        ended = await runner.resume(waiting.record.session_id, "Well?")
    assert told(ended) == ["echo: {}", "echo: No."]


async def test_an_agent_whose_tools_are_not_there_is_not_started(tmp_path: Path) -> None:
    async with AgentRunner.open(written(tmp_path, saying("Hello."))) as runner:
        with pytest.raises(AgentUnrunnable):
            await runner.run("Go.")


async def test_a_result_that_cannot_be_stored_is_refused_and_another_is_taken(tmp_path: Path) -> None:
    async with AgentRunner.open(
        with_call_policy(written(tmp_path, calling("far"), saying("{{results}}")), policy),
        sources=[ScriptedSource(acts={"far": echo})],
    ) as runner:
        waiting = await runner.run("Go.")
        odd: Any = {"when": Path()}
        for refused in (nested(MAX_DEPTH + 1), odd):
            with pytest.raises(InvalidResult):
                await runner.complete(tokens(waiting)["far"], refused)
        await runner.complete(tokens(waiting)["far"], nested(MAX_DEPTH))
        assert told(await runner.resume(waiting.record.session_id)) == [f"far: {dumps(nested(MAX_DEPTH)).decode()}"]
