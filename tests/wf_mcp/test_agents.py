"""Agents in Python."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from wf_artifacts.stores import open_stores
from wf_core.calls.policy import Defer, Disposition, PolicyContext, RunSync, ToolCall
from wf_core.sessions.models import YieldStrategy
from wf_mcp.agents import (
    Agent,
    with_call_cache,
    with_call_policy,
    with_continuation_store,
    with_durable_workflows,
    with_execution_mode,
    with_runner,
    with_session_backend,
)
from wf_mcp.config import Redactor
from wf_mcp.config.agents import InvalidAgent, load_agent
from wf_mcp.isolation import open_runner

PLAIN = Agent(slug="helper", model="scripted:answers.json", folder=Path("agents"))


def policy(context: PolicyContext, call: ToolCall) -> Disposition:
    return Defer("outside") if call.name == "fetch" else RunSync()


def test_without_combinators_everything_is_as_in_an_agent_file() -> None:
    definition = PLAIN.definition()
    assert (definition.slug, definition.model) == ("helper", "scripted:answers.json")
    assert (definition.execution_mode, definition.max_turns, definition.runner) == ("asynchronous", 50, None)
    assert PLAIN.call_policy is PLAIN.session_backend is PLAIN.continuation_store is PLAIN.runner is None
    assert PLAIN.origin == {"folder": "agents"}


def test_each_combinator_gives_a_new_agent_and_leaves_the_old_one() -> None:
    stores = open_stores("memory://")
    runner = open_runner(None, folder=Path(), redactor=Redactor())
    agent = with_call_policy(with_execution_mode(PLAIN, "synchronous"), policy)
    agent = with_runner(with_call_cache(agent, stores.cache), runner)
    assert (agent.execution_mode, agent.call_policy, agent.call_cache) == ("synchronous", policy, stores.cache)
    assert agent.runner is runner
    apart = with_continuation_store(with_session_backend(agent, stores.sessions), stores.continuations)
    assert with_durable_workflows(agent, stores.sessions, stores.continuations) == apart
    assert (apart.session_backend, apart.continuation_store) == (stores.sessions, stores.continuations)
    assert Agent(slug="helper", model="scripted:answers.json", folder=Path("agents")) == PLAIN


def test_an_agent_from_a_file_is_what_the_file_says(tmp_path: Path) -> None:
    file = tmp_path / "helper.agent.json"
    document = {
        "slug": "helper", "model": "openai:gpt-5.1", "systemPrompt": "Be brief.", "tools": ["ops.*"], "maxTurns": 3,
        "asyncYieldStrategy": {"tag": "yieldOnTimeout", "milliseconds": 5}, "asyncCallTimeoutSeconds": 9,
        "toolCallPolicyConfig": {"default": {"tag": "runAsync"}}, "maxConcurrency": 2, "description": "Helps.",
        "executionMode": "synchronous", "runner": {"sandbox": "process"},
    }  # fmt: skip
    file.write_text(json.dumps(document))
    agent = Agent.load(str(file))
    assert agent.definition() == load_agent(file)
    assert agent.yield_strategy == YieldStrategy("yieldOnTimeout", 5)
    assert (agent.folder, agent.origin) == (tmp_path, {"file": str(file)})


def test_a_runner_or_a_policy_in_python_may_make_up_for_what_the_data_leaves_open() -> None:
    nowhere = replace(
        PLAIN,
        runner_config={"sandbox": "container"},
        tool_call_policy_config={"default": {"tag": "runIsolated", "spec": {"sandbox": "http"}}},
    )
    with pytest.raises(InvalidAgent, match="url is missing, which http needs"):
        nowhere.definition()
    runner = open_runner(None, folder=Path(), redactor=Redactor())
    for agent in (with_runner(nowhere, runner), with_call_policy(nowhere, policy)):
        assert agent.definition().runner == {"sandbox": "container"}


def test_a_field_that_no_file_may_hold_is_named() -> None:
    with pytest.raises(InvalidAgent, match="executionMode"):
        with_execution_mode(PLAIN, "fast").definition()  # type: ignore[arg-type]
