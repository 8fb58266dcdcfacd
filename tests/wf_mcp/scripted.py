"""A source whose capabilities are functions of the test, and an application over it."""

from collections import defaultdict
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import anyio

from wf_artifacts.catalog.models import Artifact, Deployment, Durability
from wf_artifacts.clock import Clock, SystemClock
from wf_artifacts.runs.environment import PinnedEnvironment
from wf_artifacts.runs.models import Checkpoint, JournalRecord, RunRecord
from wf_artifacts.runs.store import Claim, Created, RunStore
from wf_artifacts.sources.models import Capability, contract_digest
from wf_artifacts.storage.digests import json_digest
from wf_artifacts.stores import Stores, open_stores
from wf_core import CallContext
from wf_core.calls.contract import Contract
from wf_core.ids import ArtifactId, DeploymentId, RunId
from wf_core.jsonvalue import JsonValue
from wf_core.plan import WorkflowPlan
from wf_core.validation import required_capabilities
from wf_mcp.app import App
from wf_mcp.config import Config, Redactor
from wf_mcp.execution import pins
from wf_mcp.execution.means import Means
from wf_mcp.execution.runs import Handle, RunDriver
from wf_mcp.execution.sessions.driver import SessionDriver
from wf_mcp.execution.sessions.opening import session_means
from wf_mcp.operations import artifacts
from wf_mcp.sources.protocol import CallFailed, CallResult, SourceKind, SourceState, SourceStatus, SourceUnavailable
from wf_mcp.sources.registry import SourceRegistry
from wf_mcp.sources.std import StdSource

Act = Callable[[dict[str, Any]], Awaitable[JsonValue]]


async def echo(given: dict[str, Any]) -> JsonValue:
    """Answer what was given."""
    return given


@dataclass
class ScriptedSource:
    """Satisfies `CapabilitySource`. What its capabilities do, and which it offers, may be changed while it is used."""

    name: str = "ops"
    acts: dict[str, Act] = field(default_factory=lambda: {"echo": echo})
    contracts: dict[str, Contract] = field(default_factory=dict[str, Contract])
    kind: SourceKind = "python"
    enabled: bool = True
    state: SourceState = "ready"
    calls: list[tuple[str, dict[str, Any], CallContext]] = field(default_factory=list[Any])
    asked: int = 0

    async def capabilities(self) -> Mapping[str, Capability]:
        self.asked += 1
        if not self.enabled:
            raise SourceUnavailable(self.name, f"The source {self.name} is switched off.", code="source_disabled")
        return {name: self._capability(name) for name in self.acts}

    async def call(self, capability: str, input: Mapping[str, JsonValue], context: CallContext) -> CallResult:
        self.calls.append((capability, dict(input), context))
        answer = await self.acts[capability](dict(input))
        return answer if isinstance(answer, CallResult) else CallResult("ok", answer)

    def status(self) -> SourceStatus:
        return SourceStatus(self.name, self.kind, self.enabled, self.state, len(self.acts), ())

    async def close(self) -> None:
        pass

    def _capability(self, name: str) -> Capability:
        contract = self.contracts.get(name, Contract())
        return Capability(self.name, name, "", "", contract, contract_digest(contract))


class Gate:
    """A capability that is entered, and held inside until the test lets it go."""

    def __init__(self, answer: JsonValue = None) -> None:
        self.entered = anyio.Event()
        self.opened = anyio.Event()
        self.cancelled = anyio.Event()
        self.answer: JsonValue = {} if answer is None else answer

    async def __call__(self, given: dict[str, Any]) -> JsonValue:
        self.entered.set()
        try:
            await self.opened.wait()
        except anyio.get_cancelled_exc_class():
            self.cancelled.set()
            raise
        return self.answer


def failing(code: str = "capability_error", message: str = "it broke", *, executed: bool = True) -> Act:
    """Make a capability that fails."""

    async def act(given: dict[str, Any]) -> JsonValue:
        raise CallFailed(code, message, executed=executed)

    return act


@asynccontextmanager
async def opened(
    *sources: ScriptedSource, stores: Stores | None = None, clock: Clock | None = None, **config: Any
) -> AsyncGenerator[App]:
    """Open an application over scripted sources and the built-in one. At the end, runs are left as they are stored."""
    time, settings = clock or SystemClock(), Config(**config)
    kept = stores or open_stores("memory://")
    registry = SourceRegistry({source.name: source for source in (StdSource("wf.std", time), *sources)})
    async with anyio.create_task_group() as tasks:
        means = Means(kept.runs, registry, time, lambda: 0.0, settings.max_bytes)
        numbers = iter(range(1, 1_000_000))
        driver = RunDriver(means, tasks, lambda: next(numbers))
        outside = session_means(kept, registry, settings, Redactor(), environ={}, clock=time)
        sessions = SessionDriver(outside, tasks)
        yield App(Path("home"), settings, time, Redactor(), kept, registry, driver, sessions)
        tasks.cancel_scope.cancel()


def artifact(document: dict[str, Any]) -> Artifact:
    """Make an artifact of a valid plan."""
    return Artifact(
        artifact_id=ArtifactId("flow"),
        version=1,
        digest=json_digest(document),
        plan=document,
        description="",
        required_capabilities=tuple(required_capabilities(WorkflowPlan.model_validate(document))),
        created_at=datetime(2026, 11, 30, tzinfo=UTC),
    )


def deployment(**bindings: str) -> Deployment:
    """Make the deployment of `artifact`."""
    then = datetime(2026, 11, 30, tzinfo=UTC)
    return Deployment(
        deployment_id=DeploymentId("flow"),
        artifact_id=ArtifactId("flow"),
        artifact_version=1,
        bindings=bindings,
        call_policy=None,
        created_at=then,
        updated_at=then,
    )


async def save(app: App, artifact_id: str, document: dict[str, Any]) -> Artifact:
    """Save a valid plan."""
    saved = await artifacts.save_artifact(app, artifact_id=artifact_id, plan=document)
    return await app.stores.catalog.load_artifact(ArtifactId(artifact_id), saved.version)


async def environment(app: App, document: dict[str, Any]) -> PinnedEnvironment:
    """Pin a plan to what the sources of `app` offer now."""
    pinned = await pins.pin(app.registry, app.stores.catalog, artifact=artifact(document), deployment=deployment())
    assert pinned.environment is not None, pinned.issues
    return pinned.environment


def node(use: str | dict[str, str], to: str = "__end__", **more: Any) -> dict[str, Any]:
    """Write a node step that goes on to `to`."""
    return {"type": "node", "use": use, "routes": {"ok": to}, **more}


def ask(to: str = "__end__", **more: Any) -> dict[str, Any]:
    """Write an interrupt step that goes on to `to`."""
    return {"type": "interrupt", "kind": "question", "routes": {"submitted": to}, **more}


def child(artifact_id: str, to: str = "__end__", *, version: int = 1, **more: Any) -> dict[str, Any]:
    """Write a step that runs a saved plan and goes on to `to`."""
    workflow = {"artifact_id": artifact_id, "version": version}
    return {"type": "subgraph", "workflow": workflow, "routes": {"ok": to}, **more}


def plan(steps: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Write a plan that starts at its first step."""
    return {"name": "flow", "start": next(iter(steps)), "steps": steps, **more}


class WatchedRuns:
    """A run store whose writes a test sees, holds up or refuses; everything else is the store's own."""

    def __init__(self, inner: RunStore) -> None:
        self._inner = inner
        self.reasons: list[str] = []
        """Of every write that was tried: that of the checkpoint, `create`, or `synced` and `appended` for inputs.

        Refusing `on disk` refuses what inputs are waited for with.
        """
        self.tried: dict[str, anyio.Event] = defaultdict(anyio.Event)
        self.holds: dict[str, anyio.Event] = {}
        """Reason -> what such a write waits for."""
        self.refusals: dict[str, Exception] = {}
        """Reason -> what such a write raises."""
        self.faults: dict[str, Exception] = {}
        """Run -> what reading its checkpoint raises."""
        self.waits_for_disk = False
        """Whether something was appended that is not known to be on disk, and is to be."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def commit(self, claim: Claim, record: RunRecord, *, checkpoint: Checkpoint, trace: Sequence[bytes]) -> None:
        await self._try(checkpoint.reason)
        await self._inner.commit(claim, record, checkpoint=checkpoint, trace=trace)

    async def load_checkpoint(self, run_id: RunId) -> Checkpoint:
        if run_id in self.faults:
            raise self.faults[run_id]
        return await self._inner.load_checkpoint(run_id)

    async def append(self, claim: Claim, records: Sequence[JournalRecord], *, sync: bool) -> int:
        await self._try("synced" if sync else "appended")
        self.waits_for_disk |= sync
        return await self._inner.append(claim, records, sync=sync)

    async def synced(self, claim: Claim) -> None:
        if "on disk" in self.refusals:
            raise self.refusals["on disk"]
        self.waits_for_disk = False
        await self._inner.synced(claim)

    async def create(
        self, record: RunRecord, environment: PinnedEnvironment, checkpoint: Checkpoint, *, trace: Sequence[bytes]
    ) -> Created:
        await self._try("create")
        return await self._inner.create(record, environment, checkpoint, trace=trace)

    async def _try(self, reason: str) -> None:
        self.reasons.append(reason)
        self.tried[reason].set()
        if reason in self.holds:
            await self.holds[reason].wait()
        if reason in self.refusals:
            raise self.refusals[reason]


def watched(url: str = "memory://") -> tuple[Stores, WatchedRuns]:
    """Open stores whose runs are watched."""
    stores = open_stores(url)
    runs = WatchedRuns(stores.runs)
    return replace(stores, runs=cast("RunStore", runs)), runs


def contents(folder: Path) -> dict[str, bytes]:
    """Read every file below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


async def start(
    app: App,
    document: dict[str, Any],
    given: JsonValue = None,
    key: str | None = None,
    durability: Durability = "steps",
) -> Handle:
    """Start a run of a plan."""
    pinned = await environment(app, document)
    asked = pinned.deployment.model_copy(update={"durability": durability})
    pinned = pinned.model_copy(update={"deployment": asked})
    return await app.runs.start(pinned, {} if given is None else given, principal="local", idempotency_key=key)


async def stopped(app: App, handle: Handle) -> str:
    """Wait until a run stops, and give its stored status."""
    with anyio.fail_after(5):
        await app.runs.wait(handle, seconds=5)
    return (await app.stores.runs.load(handle.run_id)).status


async def interrupted(app: App, document: dict[str, Any]) -> RunId:
    """Start a run that stops at a question."""
    handle = await start(app, document)
    assert await stopped(app, handle) == "interrupted"
    return handle.run_id
