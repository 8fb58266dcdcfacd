"""What a session is pinned to of its agent, and whether that is still what there is.

An agent is pinned once, when a session starts: its words, its policy, and its tools with their contracts. Afterwards a
session asks only whether its agent still exists, and its tools are still what the model was told of.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import anyio

from wf_artifacts.sources.models import Capability
from wf_core.calls.contract import Contract, Hints
from wf_core.errors import WfError
from wf_core.jsonvalue import JsonSchema, JsonValue
from wf_core.sessions.models import AgentSnapshot, ToolDefinition
from wf_core.validation import Issue
from wf_core.validation.drift import Usage, Use, drift, effective
from wf_mcp.config import Config
from wf_mcp.config.agents import AgentFile, AgentNotFound, InvalidAgent, configured_file, find_agent
from wf_mcp.execution.pins import PIN_SECONDS, Found, Readiness, ask_since
from wf_mcp.execution.toolsets import resolve_tools
from wf_mcp.sources.registry import SourceRegistry

BURST_SECONDS = 1.0
"""How old a listing of a source may be when a session goes on: results that come in a burst share one."""


@dataclass(frozen=True, slots=True)
class PinnedAgent:
    """An agent as a session could be started with it now."""

    snapshot: AgentSnapshot | None
    """None where an issue is an error."""
    issues: tuple[Issue, ...]


async def pin_agent(registry: SourceRegistry, agent: AgentFile, *, origin: Mapping[str, JsonValue]) -> PinnedAgent:
    """Resolve the agent's tools against what the sources offer, and pin it all.

    Connects the sources that the tools name, and waits for them for a while. `origin` says where the definition came
    from: `{"config": slug}`, `{"file": path}` with an absolute path, or `{}` for one written in Python.
    """
    tools, issues = await resolve_tools(registry, agent.tools, seconds=PIN_SECONDS)
    if issues:
        return PinnedAgent(None, tuple(issues))
    snapshot = AgentSnapshot(
        slug=agent.slug,
        description=agent.description,
        system_prompt=agent.system_prompt,
        model=agent.model,
        tools=tools,
        execution_mode=agent.execution_mode,
        policy=agent.tool_call_policy_config,
        max_concurrency=agent.max_concurrency,
        yield_strategy=agent.async_yield_strategy,
        call_timeout_seconds=agent.async_call_timeout_seconds,
        max_turns=agent.max_turns,
        runner=agent.runner,
        origin=dict(origin),
    )
    return PinnedAgent(snapshot, ())


def agent_folder(snapshot: AgentSnapshot, config: Config) -> Path:
    """Give what the paths in an agent are relative to: the folder of its file, else that of wf.json.

    Raises:
        AgentNotFound: wf.json names the agent no more.
    """
    match snapshot.origin:
        case {"folder": str(folder)}:
            return Path(folder)
        case _:
            file = _agent_file(snapshot, config)
            return config.folder if file is None else file.parent


async def readiness(snapshot: AgentSnapshot, registry: SourceRegistry, config: Config) -> Readiness:
    """Compare a pinned agent with what there is now; what is an error blocks the session, and changes nothing of it.

    The agent has to be there still, by its name; everything else of its definition stays as it was pinned. Each tool
    has to be offered with the input and the outcomes that the model was told of. Its description may change.
    `contracts` are by capability. What a source did not say in time is a warning.
    """
    names = {(tool.source, tool.own_name) for tool in snapshot.tools}
    found = await ask_since(registry, names, anyio.current_time() - BURST_SECONDS, seconds=PIN_SECONDS)
    issues = _missing_agent(snapshot, config)
    contracts: dict[str, Contract] = {}
    for tool in snapshot.tools:
        contracts[tool.capability], wrong = _compare(tool, found)
        issues += wrong
    return Readiness(tuple(issues), contracts)


def _agent_file(snapshot: AgentSnapshot, config: Config) -> Path | None:
    """Give the file that the agent came from, where it is now. None for one written in Python.

    Raises:
        AgentNotFound: wf.json names the agent no more.
    """
    match snapshot.origin:
        case {"config": str(slug)}:
            return configured_file(config, slug)
        case {"file": str(file)}:
            return Path(file)
        case _:
            return None


def _pinned_contract(tool: ToolDefinition) -> Contract:
    """Give a tool's contract as it was when the session started."""
    # A snapshot does not keep whether a tool destroys: it matters to nobody who may not repeat it.
    hints = Hints(tool.read_only, tool.idempotent, destructive=not tool.read_only)
    return Contract(_schema(tool.input_schema), _schema(tool.output_schema), tool.outcomes, hints)


def _schema(value: JsonValue) -> JsonSchema:
    return value if isinstance(value, dict | bool) else {}


def _missing_agent(snapshot: AgentSnapshot, config: Config) -> list[Issue]:
    try:
        file = _agent_file(snapshot, config)
        if file is not None:
            find_agent(file, snapshot.slug)
    except AgentNotFound as error:
        return [Issue("error", error.code, "", error.message, error.hint)]
    except InvalidAgent as error:
        return [Issue("warning", error.code, "", f"{error.message} The session goes on as it was started.", error.hint)]
    return []


def _compare(tool: ToolDefinition, found: Found) -> tuple[Contract, list[Issue]]:
    pinned = _pinned_contract(tool)
    match found.get((tool.source, tool.own_name)):
        case Capability() as live:
            return effective(pinned, live.contract), _drift(tool, pinned, live)
        case WfError() as error:
            message = f"{tool.capability} cannot be called: {error.message}"
            return pinned, [Issue("error", error.code, "", message, error.hint)]
        case None:
            message = (
                f"The source {tool.source!r} has not said in time whether {tool.capability} is still what the session "
                "was started with."
            )
            return pinned, [Issue("warning", "source_not_checked", "", message, "It goes on starting: try again.")]


def _drift(tool: ToolDefinition, pinned: Contract, live: Capability) -> list[Issue]:
    """Say what a changed contract means to a model: it may fill every input, and reads outputs as they come."""
    if live.digest == tool.digest:
        return []
    used = Usage((Use((), inputs=((),), outputs=(), outcomes=frozenset()),))
    if any(issue.severity == "error" for issue in drift(used, pinned, live.contract)):
        message = f"The input or the outcomes of {tool.capability} are not those that the session was started with."
        return [
            Issue("error", "contract_changed", "", message, "Restore the capability as it was, or start a new session.")
        ]
    message = f"The contract of {tool.capability} changed since the session was started, in nothing that a model uses."
    return [Issue("warning", "contract_changed", "", message)]
