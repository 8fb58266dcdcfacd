"""Reading agent files."""

import json
from pathlib import Path
from typing import Any

import pytest

from wf_core.sessions.models import YieldStrategy
from wf_mcp.config import Config
from wf_mcp.config.agents import (
    AgentFile,
    AgentNotFound,
    InvalidAgent,
    configured_file,
    find_agent,
    load_agent,
    parse_agent,
    read_agent,
)
from wf_mcp.config.load import InvalidConfig, parse_config

LEAST = {"slug": "helper", "model": "openai:gpt-5.1"}
DEFERRED = {"tool": "fetch_*", "disposition": {"tag": "defer", "reason": "out"}}
POLICY = {"default": {"tag": "runSync"}, "rules": [DEFERRED]}
FULL = {
    **LEAST, "description": "Helps.", "systemPrompt": "Be brief.", "tools": ["files.*", "ops.word_count"],
    "executionMode": "asynchronous", "toolCallPolicyConfig": POLICY, "maxConcurrency": 4,
    "asyncYieldStrategy": "yieldOnAnyProgress", "asyncCallTimeoutSeconds": 900, "maxTurns": 20,
    "runner": {"sandbox": "process", "command": ["./worker.sh"]},
}  # fmt: skip
SNAKE = {
    "systemPrompt": "system_prompt", "executionMode": "execution_mode", "maxConcurrency": "max_concurrency",
    "toolCallPolicyConfig": "tool_call_policy_config", "asyncYieldStrategy": "async_yield_strategy",
    "asyncCallTimeoutSeconds": "async_call_timeout_seconds", "maxTurns": "max_turns",
}  # fmt: skip


def read(**changes: Any) -> AgentFile:
    return read_agent({**LEAST, **changes}, name="helper.agent.json")


def refusal(**changes: Any) -> list[str]:
    with pytest.raises(InvalidAgent) as refused:
        read(**changes)
    assert refused.value.code == "invalid_agent"
    return refused.value.details["problems"]


def test_keys_are_spelled_in_camel_case_or_in_snake_case() -> None:
    camel = read_agent(FULL, name="a")
    assert camel == read_agent({SNAKE.get(key, key): value for key, value in FULL.items()}, name="a")
    assert (camel.system_prompt, camel.max_concurrency, camel.async_call_timeout_seconds) == ("Be brief.", 4, 900.0)
    assert camel.async_yield_strategy == YieldStrategy("yieldOnAnyProgress")


def test_what_is_left_out_has_its_default() -> None:
    agent = read()
    assert (agent.execution_mode, agent.max_concurrency, agent.max_turns) == ("asynchronous", 1, 50)
    assert (agent.async_yield_strategy, agent.tool_call_policy_config, agent.runner) == (YieldStrategy(), {}, None)


def test_a_strategy_may_wait_for_a_while() -> None:
    given = {"tag": "yieldOnTimeout", "milliseconds": 500}
    assert read(asyncYieldStrategy=given).async_yield_strategy == YieldStrategy("yieldOnTimeout", 500)


@pytest.mark.parametrize(
    "given",
    ["yieldOnTimeout", {"tag": "yieldOnTimeout"}, {"tag": "yieldOnTimeout", "milliseconds": 0}, 3, None,
     {"tag": "yieldWhenAllDone", "milliseconds": 5}, {"tag": "yieldOnTimeout", "milliseconds": 5, "seconds": 1}],
)  # fmt: skip
def test_any_other_strategy_is_refused(given: object) -> None:
    assert refusal(asyncYieldStrategy=given)[0].startswith("asyncYieldStrategy: write ")


def test_every_problem_is_named_with_its_place() -> None:
    rule = {"tool": "x", "disposition": {"tag": "deffer"}}
    told = refusal(
        slug="a b", tools=["files.*", "word_count"], maxTurns=0, sytemPrompt="", runner={"sandbox": "moon"},
        toolCallPolicyConfig={"rules": [rule]}, asyncCallTimeoutSeconds=-1,
    )  # fmt: skip
    text = "\n".join(told)
    assert "slug: " in text
    assert "tools[1]: write source.capability" in text
    assert "maxTurns: " in text
    assert "unknown key sytemPrompt (did you mean systemPrompt?)" in text
    assert "runner: sandbox" in text
    assert "rules[0].disposition" in text
    assert "asyncCallTimeoutSeconds: " in text
    assert len(told) == 7


@pytest.mark.parametrize(
    ("runner", "spec", "told"),
    [
        ({"sandbox": "http"}, None, "runner: url is missing, which http needs"),
        ({"sandbox": "container", "memory": "1m"}, None, "runner: image is missing, which container needs"),
        (None, {"sandbox": "http"}, "toolCallPolicyConfig.default: url is missing, which http needs"),
        ({"command": "x"}, {"sandbox": "container"}, "toolCallPolicyConfig.default: image is missing, "),
        (None, {"memori": "1m"}, "toolCallPolicyConfig.default: unknown key memori (did you mean memory?)"),
    ],
)
def test_isolated_calls_that_could_run_nowhere_are_named_at_the_start(
    runner: dict[str, Any] | None, spec: dict[str, Any] | None, told: str
) -> None:
    policy = {} if spec is None else {"default": {"tag": "runIsolated", "spec": spec}}
    (problem,) = refusal(runner=runner, toolCallPolicyConfig=policy)
    assert problem.startswith(told)


def test_a_spec_may_bring_what_the_runner_leaves_open() -> None:
    policy = {"default": {"tag": "runIsolated", "spec": {"image": "local/worker:1"}}}
    assert read(runner={"sandbox": "container"}, toolCallPolicyConfig=policy).runner == {"sandbox": "container"}


def test_a_file_that_is_none_says_so_without_its_path(tmp_path: Path) -> None:
    with pytest.raises(InvalidAgent, match=r"^The agent file gone\.json cannot be read"):
        load_agent(tmp_path / "gone.json")
    with pytest.raises(InvalidAgent, match=r"a\.json is no JSON"):
        parse_agent("{", name="a.json")
    with pytest.raises(InvalidAgent, match="expected an object"):
        parse_agent("[]", name="a.json")


def test_one_key_in_both_spellings_is_told_as_that() -> None:
    assert refusal(maxTurns=5, max_turns=6) == ["max_turns and maxTurns are one key: write one of them"]
    assert refusal(runner={"timeoutSeconds": 5, "timeout_seconds": 6}) == [
        "runner: timeout_seconds and timeoutSeconds are one key: write one of them"
    ]


def test_what_no_file_can_be_called_is_refused_at_once() -> None:
    assert refusal(model="scripted:a\0b")[0].startswith("model: ")
    with pytest.raises(InvalidConfig, match=r"agents\.helper\.file: "):
        parse_config(json.dumps({"agents": {"helper": {"file": "a\0b"}}}).encode())


def test_the_configuration_names_agents_by_their_slugs(tmp_path: Path) -> None:
    document = json.dumps({"agents": {"helper": {"file": "agents/helper.agent.json"}}})
    config = parse_config(document.encode()).at(tmp_path / "wf.json", tmp_path)
    assert configured_file(config, "helper") == tmp_path / "agents" / "helper.agent.json"
    with pytest.raises(AgentNotFound) as missing:
        configured_file(config, "hepler")
    assert (missing.value.code, missing.value.hint) == ("agent_not_found", "Did you mean helper?")
    with pytest.raises(AgentNotFound, match="names no agent 'x'"):
        configured_file(Config(), "x")


def test_an_agent_that_was_renamed_in_its_file_is_found_no_more(tmp_path: Path) -> None:
    file = tmp_path / "helper.agent.json"
    file.write_text(json.dumps(LEAST))
    assert find_agent(file, "helper").slug == "helper"
    with pytest.raises(AgentNotFound, match="describes the agent 'helper', not 'other'"):
        find_agent(file, "other")
    file.unlink()
    with pytest.raises(AgentNotFound, match="'helper' is gone"):
        find_agent(file, "helper")
    with pytest.raises(AgentNotFound, match="'helper' is gone"):
        find_agent(tmp_path / ("a" * 5000), "helper")
