"""Agents of Python programs: their sessions over the stores that the program chose, without a server.

    async with AgentRunner.open(agent) as runner:
        view = await runner.run("How many words are in README.md?")
        for call in view.pending:
            await runner.complete(call.token, "42")
        view = await runner.resume(view.record.session_id)

What else can be done with a session is in `runner.sessions`.
"""

import os
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Literal, Self

import anyio

from wf_artifacts.calls.models import Delivery
from wf_artifacts.clock import Clock, SystemClock
from wf_artifacts.stores import Stores, open_stores
from wf_core.calls.policy import IsolationSpec
from wf_core.calls.results import read_result, result_to_json, text_result
from wf_core.ids import SessionId
from wf_core.jsonvalue import JsonValue
from wf_core.sessions import AgentSnapshot, Attachment
from wf_mcp.agents import Agent
from wf_mcp.config import Redactor, load_config
from wf_mcp.execution.agents import pin_agent
from wf_mcp.execution.calls.protocol import Target
from wf_mcp.execution.sessions.driver import SessionDriver, SessionHandle
from wf_mcp.execution.sessions.errors import AgentUnrunnable
from wf_mcp.execution.sessions.keeping import keep_going
from wf_mcp.execution.sessions.opening import session_means
from wf_mcp.execution.sessions.views import SessionView
from wf_mcp.isolation import DeploymentRunner
from wf_mcp.sources.protocol import CapabilitySource
from wf_mcp.sources.registry import SourceRegistry

PRINCIPAL = "local"


class AgentRunner:
    """Runs one agent. Open one with `AgentRunner.open`."""

    def __init__(self, agent: Agent, registry: SourceRegistry, driver: SessionDriver, clock: Clock) -> None:
        self._agent = agent
        self._registry = registry
        self._clock = clock
        self.sessions = driver
        """Everything that can be done with a session."""

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        agent: Agent,
        *,
        config: Path | None = None,
        sources: Sequence[CapabilitySource] = (),
        environ: Mapping[str, str] = os.environ,
        clock: Clock | None = None,
        keeps: bool = False,
    ) -> AsyncGenerator[Self]:
        """Make everything ready to run an agent; stores that it does not name are in memory.

        Its tools come from `sources`, and from what `config` names, else the wf.json in its folder, if there is one.
        `keeps` lets sessions go on by themselves when a result comes. At the end, sessions are left as they were last
        stored. Enter and leave in the same task.

        Raises:
            InvalidConfig: the configuration cannot be used.
        """
        settings = load_config(config, cwd=agent.folder, home=agent.folder)
        time, redactor = clock or SystemClock(), Redactor()
        async with (
            open_stores("memory://") as memory,
            SourceRegistry.open(settings, redactor, environ=environ, clock=time) as registry,
            anyio.create_task_group() as tasks,
        ):
            offered = SourceRegistry({**registry.sources(), **{source.name: source for source in sources}})
            stores = _stores(agent, memory)
            means = session_means(stores, offered, settings, redactor, environ=environ, clock=time)
            means = replace(means, policy=agent.call_policy)
            if agent.runner is not None:
                means = replace(means, runner=_by(agent.runner))
            driver = SessionDriver(means, tasks)
            if keeps:
                tasks.start_soon(keep_going, driver)
            try:
                yield cls(agent, offered, driver, time)
            finally:
                tasks.cancel_scope.cancel()

    async def start(self, query: str, *, attachments: Sequence[Attachment] = (), auto: bool = False) -> SessionId:
        """Store a new session. Its model is not asked yet.

        Raises:
            AgentUnrunnable: its tools cannot be resolved; no session was created.
            InvalidAgent, InvalidPolicy, StoreFull, StoreUnavailable: no session was created.
        """
        pinned = await pin_agent(self._registry, self._agent.definition(), origin=self._agent.origin)
        if pinned.snapshot is None:
            raise AgentUnrunnable(self._agent.slug, [issue.as_json() for issue in pinned.issues])
        made = await self.sessions.create(
            pinned.snapshot, query, principal=PRINCIPAL, attachments=attachments, auto=auto
        )
        return made.session_id

    async def run(self, query: str, *, attachments: Sequence[Attachment] = ()) -> SessionView:
        """Start a session, and go on to its answer or to where it waits.

        Raises:
            WfError: as `start` and `resume`.
        """
        return await self.resume(await self.start(query, attachments=attachments))

    async def step(self, session_id: SessionId) -> SessionView:
        """Ask the model once, or make the calls of a turn up to where it yields."""
        return await self._rested(await self.sessions.step(session_id))

    async def resume(self, session_id: SessionId, prompt: str | None = None) -> SessionView:
        """Take what was delivered, and what the user says, and go on to the answer or to where it waits."""
        return await self._rested(await self.sessions.resume(session_id, prompt=prompt))

    async def run_isolated(self, session_id: SessionId) -> SessionView:
        """Make the calls that are put off to isolation."""
        return await self._rested(await self.sessions.run_isolated(session_id))

    async def view(self, session_id: SessionId) -> SessionView:
        """Show a session where it stands."""
        return await self.sessions.view(session_id)

    async def complete(self, token: str, result: bytes | str | JsonValue) -> None:
        """Deliver the result of a call that waits: one of the four forms, else anything else as text.

        Raises:
            CallNotFound, CallAnswered, CallExpired, WrongAnswerKind: nothing was changed.
            InvalidResult: it is a value that cannot be stored (too deep, or no JSON); nothing was changed.
        """
        said = result_to_json(read_result(result)) if isinstance(result, bytes | str) else result
        await self._deliver(token, "result", said)

    async def fail(self, token: str, message: str) -> None:
        """Say that a call that waits has failed, or may not be made. Raises as `complete`."""
        await self._deliver(token, "result", result_to_json(text_result(message, error=True)))

    async def approve(self, token: str) -> None:
        """Allow a call that waits for it. Raises as `complete`."""
        await self._deliver(token, "approval", None)

    async def retry(self, token: str) -> None:
        """Let a call in doubt be made again. Raises as `complete`."""
        await self._deliver(token, "retry", None)

    async def _deliver(self, token: str, kind: Literal["result", "approval", "retry"], result: JsonValue) -> None:
        now = self._clock.now()
        delivery = Delivery(kind=kind, result=result, channel="python", principal=PRINCIPAL, delivered_at=now)
        await self.sessions.deliver(token, delivery, principal=PRINCIPAL)

    async def _rested(self, handle: SessionHandle) -> SessionView:
        await self.sessions.wait(handle)
        return await self.sessions.view(handle.session_id)


def _by(runner: DeploymentRunner) -> Callable[[AgentSnapshot, IsolationSpec, Target], DeploymentRunner]:
    def give(agent: AgentSnapshot, spec: IsolationSpec, target: Target) -> DeploymentRunner:  # noqa: ARG001
        return runner

    return give


def _stores(agent: Agent, memory: Stores) -> Stores:
    return replace(
        memory,
        sessions=agent.session_backend or memory.sessions,
        continuations=agent.continuation_store or memory.continuations,
        cache=agent.call_cache or memory.cache,
    )
