"""An agent in Python: the record that an agent file describes, and what only Python can give it.

    agent = with_durable_workflows(Agent.load("helper.agent.json"), sessions, continuations)

Every combinator gives a new agent and leaves the old one as it is. Running one is `wf_mcp.execution`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from wf_artifacts.calls.store import CallCache, ContinuationStore
from wf_artifacts.sessions.store import SessionStore
from wf_core.calls.policy import CallPolicy
from wf_core.jsonvalue import JsonValue
from wf_core.sessions.models import ExecutionMode, YieldStrategy
from wf_mcp.config.agents import AgentFile, load_agent, read_agent
from wf_mcp.isolation.protocol import DeploymentRunner


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """An agent. What is left out is as in an agent file, and kept in memory."""

    slug: str
    model: str
    """`vendor:model`, or `scripted:FILE`, relative to `folder`."""
    system_prompt: str = ""
    description: str = ""
    tools: tuple[str, ...] = ()
    """`source.capability`, or patterns of it: `files.*`."""
    execution_mode: ExecutionMode = "asynchronous"
    tool_call_policy_config: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    """How calls run, as data."""
    max_concurrency: int = 1
    yield_strategy: YieldStrategy = YieldStrategy()  # noqa: RUF009 - frozen
    call_timeout_seconds: float | None = None
    max_turns: int = 50
    runner_config: Mapping[str, JsonValue] | None = None
    """Where isolated calls run, as data."""

    folder: Path = field(default_factory=Path.cwd)
    """What paths in the agent are relative to."""
    file: Path | None = None
    """The agent file that this was read from: a session goes on only while it is there."""

    call_policy: CallPolicy | None = None
    """Decides instead of `tool_call_policy_config`."""
    session_backend: SessionStore | None = None
    continuation_store: ContinuationStore | None = None
    call_cache: CallCache | None = None
    runner: DeploymentRunner | None = None
    """Runs isolated calls instead of what `runner_config` describes."""

    @classmethod
    def load(cls, file: str | Path) -> Self:
        """Read an agent file.

        Raises:
            InvalidAgent: it cannot be used; every problem is named.
        """
        path = Path(file).resolve()
        return cls.of(load_agent(path), path)

    @classmethod
    def of(cls, definition: AgentFile, file: Path) -> Self:
        """Give the agent that a file holds."""
        return cls(
            slug=definition.slug,
            model=definition.model,
            system_prompt=definition.system_prompt,
            description=definition.description,
            tools=tuple(definition.tools),
            execution_mode=definition.execution_mode,
            tool_call_policy_config=definition.tool_call_policy_config,
            max_concurrency=definition.max_concurrency,
            yield_strategy=definition.async_yield_strategy,
            call_timeout_seconds=definition.async_call_timeout_seconds,
            max_turns=definition.max_turns,
            runner_config=definition.runner,
            folder=file.parent,
            file=file,
        )

    def definition(self) -> AgentFile:
        """Give the part that can be written down: what a session is pinned to.

        Raises:
            InvalidAgent: a field holds what an agent file may not; every problem is named.
        """
        strategy: dict[str, Any] = {"tag": self.yield_strategy.when}
        if self.yield_strategy.milliseconds is not None:
            strategy["milliseconds"] = self.yield_strategy.milliseconds
        document: dict[str, Any] = {
            "slug": self.slug,
            "model": self.model,
            "systemPrompt": self.system_prompt,
            "description": self.description,
            "tools": list(self.tools),
            "executionMode": self.execution_mode,
            "toolCallPolicyConfig": dict(self.tool_call_policy_config),
            "maxConcurrency": self.max_concurrency,
            "asyncYieldStrategy": strategy,
            "asyncCallTimeoutSeconds": self.call_timeout_seconds,
            "maxTurns": self.max_turns,
            "runner": None if self.runner_config is None else dict(self.runner_config),
        }
        # A runner or a policy in Python may make up for what the data leaves open.
        as_data = self.runner is None and self.call_policy is None
        return read_agent(document, name=f"the agent {self.slug!r}", checks_isolation=as_data)

    @property
    def origin(self) -> dict[str, JsonValue]:
        """Say where the definition came from, as a session remembers it."""
        return {"folder": str(self.folder)} if self.file is None else {"file": str(self.file)}


def with_execution_mode(agent: Agent, mode: ExecutionMode) -> Agent:
    """Let calls run in the background (`asynchronous`), or each before the next (`synchronous`)."""
    return replace(agent, execution_mode=mode)


def with_call_policy(agent: Agent, policy: CallPolicy) -> Agent:
    """Let a function decide how each call runs: pure, of the call and where it stands."""
    return replace(agent, call_policy=policy)


def with_session_backend(agent: Agent, backend: SessionStore) -> Agent:
    """Keep sessions there."""
    return replace(agent, session_backend=backend)


def with_continuation_store(agent: Agent, store: ContinuationStore) -> Agent:
    """Keep there what waits for an answer from outside."""
    return replace(agent, continuation_store=store)


def with_durable_workflows(agent: Agent, backend: SessionStore, store: ContinuationStore) -> Agent:
    """Keep sessions, and what waits in them, where they outlive the process."""
    return with_continuation_store(with_session_backend(agent, backend), store)


def with_call_cache(agent: Agent, cache: CallCache) -> Agent:
    """Remember the results of calls whose policy says `withCacheKey`."""
    return replace(agent, call_cache=cache)


def with_runner(agent: Agent, runner: DeploymentRunner) -> Agent:
    """Run isolated calls there."""
    return replace(agent, runner=runner)
