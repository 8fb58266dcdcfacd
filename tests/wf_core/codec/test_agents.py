"""The stored form of an agent: every field, strictly."""

import dataclasses
from typing import Any

import pytest

from tests.wf_core.conversations import agent
from wf_core.codec.agents import agent_to_json, read_agent
from wf_core.errors import StateCorrupt
from wf_core.jsonvalue import dumps, loads
from wf_core.sessions import AgentSnapshot, ToolDefinition, YieldStrategy

AGENTS = {
    "with everything": agent(
        execution_mode="synchronous",
        yield_strategy=YieldStrategy("yieldOnTimeout", 0),
        call_timeout_seconds=1.5,
        runner={"sandbox": "process", "command": ["./worker.sh"]},
        origin={"file": "helper.agent.json"},
    ),
    "with little": AgentSnapshot("helper", "", "", "openai:gpt"),
}


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_is_read_as_it_was_written(name: str) -> None:
    written = loads(dumps(agent_to_json(AGENTS[name])))
    assert read_agent(written, "agent") == AGENTS[name]


def test_every_field_is_written() -> None:
    written = agent_to_json(agent())
    assert list(written) == [field.name for field in dataclasses.fields(AgentSnapshot)]
    assert list(written["tools"][0]) == [field.name for field in dataclasses.fields(ToolDefinition)]


@pytest.mark.parametrize(
    ("damage", "where"),
    [
        ({"execution_mode": "parallel"}, "agent.execution_mode"),
        ({"max_turns": 0}, "agent.max_turns"),
        ({"max_concurrency": 0}, "agent.max_concurrency"),
        ({"call_timeout_seconds": 0}, "agent.call_timeout_seconds"),
        ({"call_timeout_seconds": True}, "agent.call_timeout_seconds"),
        ({"yield_strategy": {"when": "yieldOnTimeout", "milliseconds": None}}, "agent.yield_strategy.milliseconds"),
        ({"yield_strategy": {"when": "yieldOnTimeout", "milliseconds": -1}}, "agent.yield_strategy.milliseconds"),
        ({"yield_strategy": {"when": "yieldWhenAllDone", "milliseconds": 5}}, "agent.yield_strategy.milliseconds"),
        ({"runner": []}, "agent.runner"),
        ({"temperature": 1}, "agent"),
    ],
)
def test_damage_is_named(damage: dict[str, Any], where: str) -> None:
    with pytest.raises(StateCorrupt) as caught:
        read_agent({**agent_to_json(agent()), **damage}, "agent")
    assert caught.value.details["where"] == where


def test_a_tool_without_a_schema_is_no_tool() -> None:
    written = agent_to_json(agent())
    written["tools"][1] = {**written["tools"][1], "input_schema": None}
    with pytest.raises(StateCorrupt, match=r"agent\.tools\[1\]\.input_schema is no schema"):
        read_agent(written, "agent")
