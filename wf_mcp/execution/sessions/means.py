"""What it takes to advance sessions: the same for every session of a program."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from wf_artifacts.calls.store import CallCache, ContinuationStore
from wf_artifacts.clock import Clock
from wf_artifacts.sessions.store import SessionStore
from wf_core.calls.policy import CallPolicy, IsolationSpec
from wf_core.sessions.models import AgentSnapshot
from wf_mcp.execution.calls.protocol import Target
from wf_mcp.execution.changes import Changes
from wf_mcp.isolation.protocol import DeploymentRunner
from wf_mcp.llm.protocol import ModelProvider
from wf_mcp.sources.protocol import CapabilitySource


async def _nothing_missing(agent: AgentSnapshot) -> Sequence[Mapping[str, Any]]:  # noqa: ARG001
    return ()


def _no_runner(agent: AgentSnapshot, spec: IsolationSpec, target: Target) -> DeploymentRunner | None:  # noqa: ARG001
    return None


@dataclass(frozen=True, slots=True)
class SessionMeans:
    """The stores, the sources, the models, time and chance."""

    sessions: SessionStore
    continuations: ContinuationStore
    cache: CallCache
    clock: Clock
    random_bits: Callable[[], int]
    """Gives `wf_core.ids.RUN_ID_RANDOM_BITS` random bits, that nobody can guess."""
    sources: Callable[[], Mapping[str, CapabilitySource]]
    """Gives every source by name."""
    open_model: Callable[[AgentSnapshot], ModelProvider]
    """Gives who answers for an agent's model; may raise ModelFailed."""
    missing: Callable[[AgentSnapshot], Awaitable[Sequence[Mapping[str, Any]]]] = _nothing_missing
    """Gives what keeps a pinned agent from going on, as diagnostics: what is gone or changed."""
    runner: Callable[[AgentSnapshot, IsolationSpec, Target], DeploymentRunner | None] = _no_runner
    """Gives who carries out an isolated call; None where nobody does."""
    policy: CallPolicy | None = None
    """Decides in the place of what the agents say, where a program has its own."""
    max_bytes: int = 16 * 1024 * 1024
    changes: Changes = field(default_factory=Changes)
    """Told of each time a session is stored."""
