"""What one program advances its sessions with: its stores and sources, the models and the runners of its agents."""

import logging
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from wf_artifacts.clock import Clock
from wf_artifacts.stores import Stores
from wf_core.calls.policy import IsolationSpec
from wf_core.errors import WfError
from wf_core.ids import RUN_ID_RANDOM_BITS
from wf_core.sessions import AgentSnapshot
from wf_mcp.config import Config, Redactor
from wf_mcp.config.runners import names_worker
from wf_mcp.execution.agents import agent_folder, readiness
from wf_mcp.execution.calls.protocol import Target
from wf_mcp.execution.sessions.means import SessionMeans
from wf_mcp.isolation import DeploymentRunner, open_runner, python_workers
from wf_mcp.llm import ModelProvider
from wf_mcp.llm.opening import open_model
from wf_mcp.sources.registry import SourceRegistry

logger = logging.getLogger(__name__)


def session_means(
    stores: Stores,
    registry: SourceRegistry,
    config: Config,
    redactor: Redactor,
    *,
    environ: Mapping[str, str],
    clock: Clock,
) -> SessionMeans:
    """Give what it takes to advance the sessions of these stores."""
    outside = _Outside(registry, config, redactor, environ)
    return SessionMeans(
        sessions=stores.sessions,
        continuations=stores.continuations,
        cache=stores.cache,
        clock=clock,
        random_bits=lambda: secrets.randbits(RUN_ID_RANDOM_BITS),
        sources=registry.sources,
        open_model=outside.model,
        missing=outside.missing,
        runner=outside.runner,
        max_bytes=config.max_bytes,
    )


class _Outside:
    """The models and runners of agents, wherever their definitions came from."""

    def __init__(
        self, registry: SourceRegistry, config: Config, redactor: Redactor, environ: Mapping[str, str]
    ) -> None:
        self._registry = registry
        self._config = config
        self._redactor = redactor
        self._environ = environ
        self._workers = python_workers(config, environ)
        self._models: dict[tuple[str, str], ModelProvider] = {}

    def model(self, agent: AgentSnapshot) -> ModelProvider:
        folder = agent_folder(agent, self._config)
        key = (agent.model, str(folder))
        if key not in self._models:
            self._models[key] = open_model(agent.model, folder=folder, environ=self._environ, redactor=self._redactor)
        return self._models[key]

    async def missing(self, agent: AgentSnapshot) -> Sequence[Mapping[str, Any]]:
        found = await readiness(agent, self._registry, self._config)
        return [issue.as_json() for issue in found.errors]

    def runner(self, agent: AgentSnapshot, spec: IsolationSpec, target: Target) -> DeploymentRunner | None:
        if not names_worker(agent.runner or {}, spec) and self._workers(target.source) is None:
            return None
        try:
            return open_runner(
                agent.runner,
                folder=agent_folder(agent, self._config),
                redactor=self._redactor,
                environ=self._environ,
                python=self._workers,
            )
        except WfError as error:
            logger.warning("The runner of the agent %s cannot be used: %s", agent.slug, error)
            return None
