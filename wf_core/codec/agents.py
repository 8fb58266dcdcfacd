"""The stored form of an agent as a session was started with it."""

from typing import Any, cast, get_args

from wf_core.codec.fields import Fields, corrupt
from wf_core.jsonvalue import JsonValue
from wf_core.sessions.models import AgentSnapshot, ExecutionMode, ToolDefinition, YieldStrategy, YieldWhen

Json = dict[str, Any]


def agent_to_json(agent: AgentSnapshot) -> Json:
    """Write an agent."""
    return {
        "slug": agent.slug,
        "description": agent.description,
        "system_prompt": agent.system_prompt,
        "model": agent.model,
        "tools": [_tool(tool) for tool in agent.tools],
        "execution_mode": agent.execution_mode,
        "policy": dict(agent.policy),
        "max_concurrency": agent.max_concurrency,
        "yield_strategy": {"when": agent.yield_strategy.when, "milliseconds": agent.yield_strategy.milliseconds},
        "call_timeout_seconds": agent.call_timeout_seconds,
        "max_turns": agent.max_turns,
        "runner": None if agent.runner is None else dict(agent.runner),
        "origin": dict(agent.origin),
    }


def read_agent(value: object, where: str) -> AgentSnapshot:
    """Read an agent, strictly.

    Raises:
        StateCorrupt: naming the place.
    """
    with Fields(value, where) as fields:
        return AgentSnapshot(
            slug=fields.of(str, "slug"),
            description=fields.of(str, "description"),
            system_prompt=fields.of(str, "system_prompt"),
            model=fields.of(str, "model"),
            tools=tuple(fields.each("tools", _read_tool)),
            execution_mode=fields.one_of(cast("tuple[ExecutionMode, ...]", get_args(ExecutionMode)), "execution_mode"),
            policy=fields.object("policy"),
            max_concurrency=fields.count("max_concurrency", least=1),
            yield_strategy=_read_strategy(fields.any("yield_strategy"), f"{where}.yield_strategy"),
            call_timeout_seconds=_read_seconds(fields.any("call_timeout_seconds"), f"{where}.call_timeout_seconds"),
            max_turns=fields.count("max_turns", least=1),
            runner=cast("dict[str, JsonValue] | None", fields.maybe(dict, "runner")),
            origin=fields.object("origin"),
        )


def _tool(tool: ToolDefinition) -> Json:
    return {
        "name": tool.name,
        "capability": tool.capability,
        "source": tool.source,
        "description": tool.description,
        "input_schema": tool.input_schema,
        "output_schema": tool.output_schema,
        "outcomes": list(tool.outcomes),
        "digest": tool.digest,
        "read_only": tool.read_only,
        "idempotent": tool.idempotent,
    }


def _read_tool(value: Any, where: str) -> ToolDefinition:
    with Fields(value, where) as fields:
        return ToolDefinition(
            name=fields.of(str, "name"),
            capability=fields.of(str, "capability"),
            source=fields.of(str, "source"),
            description=fields.of(str, "description"),
            input_schema=_read_schema(fields.any("input_schema"), f"{where}.input_schema"),
            output_schema=_read_schema(fields.any("output_schema"), f"{where}.output_schema"),
            outcomes=fields.texts("outcomes"),
            digest=fields.of(str, "digest"),
            read_only=fields.of(bool, "read_only"),
            idempotent=fields.of(bool, "idempotent"),
        )


def _read_schema(value: JsonValue, where: str) -> JsonValue:
    if not isinstance(value, (dict, bool)):
        raise corrupt(where, "is no schema")
    return value


def _read_strategy(value: object, where: str) -> YieldStrategy:
    with Fields(value, where) as fields:
        when = fields.one_of(cast("tuple[YieldWhen, ...]", get_args(YieldWhen)), "when")
        milliseconds = fields.maybe(int, "milliseconds")
        if (milliseconds is None) == (when == "yieldOnTimeout") or (milliseconds or 0) < 0:
            raise corrupt(f"{where}.milliseconds", f"does not go with {when}")
        return YieldStrategy(when, milliseconds)


def _read_seconds(value: object, where: str) -> float | None:
    if value is None:
        return None
    if type(value) not in (int, float) or cast("float", value) <= 0:
        raise corrupt(where, "is no number of seconds above 0")
    return cast("float", value)
