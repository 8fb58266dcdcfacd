"""What a run is pinned to, and whether that is still what the sources offer.

Owns how a plan's logical names meet live capabilities: once when a run starts, and again whenever its pin is looked at.
How much a contract may differ is decided in `wf_core.validation.drift`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial

import anyio
from anyio import to_thread

from wf_artifacts.catalog.models import Artifact, Deployment
from wf_artifacts.runs.environment import PinnedCapability, PinnedEnvironment
from wf_artifacts.sources.models import Capability
from wf_core.calls.contract import Contract
from wf_core.errors import WfError
from wf_core.plan import WorkflowPlan
from wf_core.validation import Issue, read_plan
from wf_core.validation.drift import drift, effective, usage
from wf_mcp.sources.protocol import SourceUnavailable
from wf_mcp.sources.registry import SourceRegistry

PIN_SECONDS = 30.0
"""How long a start waits for sources: together with waiting for the run it stays within what clients allow a call."""

Name = tuple[str, str]
"""Source and capability."""

Found = Mapping[Name, Capability | WfError]
"""What the sources say. A name that they said nothing of in time is missing."""


@dataclass(frozen=True, slots=True)
class Pinned:
    """A deployment as it could be run now."""

    environment: PinnedEnvironment | None
    """None where an issue is an error."""
    issues: tuple[Issue, ...]


@dataclass(frozen=True, slots=True)
class Readiness:
    """A pin as it could be gone on with now."""

    issues: tuple[Issue, ...]
    contracts: dict[str, Contract]
    """Logical name -> the contract that judges its calls, of every capability that is there."""

    @property
    def ready(self) -> bool:
        return not self.errors

    @property
    def errors(self) -> list[Issue]:
        """What keeps the run from going on."""
        return [issue for issue in self.issues if issue.severity == "error"]


async def pin(registry: SourceRegistry, *, artifact: Artifact, deployment: Deployment) -> Pinned:
    """Resolve every logical name of the plan by the deployment's bindings, and validate the plan against what is there.

    Connects the sources that the plan names, and waits for them for a while. A logical name without a binding means the
    source of that name.
    """
    wanted = {logical: _bound(logical, deployment) for logical in artifact.required_capabilities}
    found = await ask(registry, wanted.values(), seconds=PIN_SECONDS)
    capabilities: dict[str, PinnedCapability] = {}
    issues: list[Issue] = []
    for logical, name in wanted.items():
        match found.get(name):
            case None:
                issues.append(_missing(logical, _silent(name[0])))
            case Capability() as live:
                capabilities[logical] = PinnedCapability(
                    source=live.source, name=live.name, contract=live.contract, digest=live.digest
                )
            case WfError() as error:
                issues.append(_missing(logical, error))
    if not issues:
        contracts = {logical: pinned.contract for logical, pinned in capabilities.items()}
        # In a thread: a long plan takes its time, and others are served meanwhile.
        report = await to_thread.run_sync(partial(read_plan, artifact.plan, contracts=contracts))
        issues.extend(report.issues)
    if any(issue.severity == "error" for issue in issues):
        return Pinned(None, tuple(issues))
    environment = PinnedEnvironment(artifact=artifact, children=(), deployment=deployment, capabilities=capabilities)
    return Pinned(environment, tuple(issues))


async def ask(registry: SourceRegistry, names: Iterable[Name], *, seconds: float | None = None) -> Found:
    """Ask all sources at once, each for what is wanted of it; after `seconds` give what was heard."""
    found: dict[Name, Capability | WfError] = {}

    async def look(name: Name) -> None:
        try:
            found[name] = await registry.capability(*name)
        except WfError as error:
            found[name] = error

    with anyio.move_on_after(seconds):
        async with anyio.create_task_group() as tasks:
            for name in set(names):
                tasks.start_soon(look, name)
    return found


async def known(registry: SourceRegistry, names: Iterable[Name]) -> Found:
    """Look at what is known of the sources without connecting any."""
    near = {name for name in names if not _is_far(registry, name[0])}
    return await ask(registry, near)


def idle_bindings(artifact: Artifact, deployment: Deployment) -> list[Issue]:
    """Say which bindings do nothing, because the plan does not use the name."""
    used = {logical.rpartition(".")[0] for logical in artifact.required_capabilities}
    return [
        Issue("warning", "unused_binding", "", f"The plan uses no source {logical!r}.", "Correct the binding.")
        for logical in deployment.bindings
        if logical not in used
    ]


def names(environment: PinnedEnvironment) -> set[Name]:
    """Give what a pin needs of the sources."""
    return {(pinned.source, pinned.name) for pinned in environment.capabilities.values()}


def readiness(environment: PinnedEnvironment, found: Found) -> Readiness:
    """Compare the pin with what the sources said. What they did not say in time is a warning."""
    used = usage(WorkflowPlan.model_validate(environment.artifact.plan))
    issues: list[Issue] = []
    contracts: dict[str, Contract] = {}
    for logical, pinned in environment.capabilities.items():
        match found.get((pinned.source, pinned.name)):
            case Capability() as live:
                contracts[logical] = effective(pinned.contract, live.contract)
                if live.digest != pinned.digest:
                    issues.extend(drift(used[logical], pinned.contract, live.contract))
            case WfError() as error:
                issues.append(_missing(logical, error))
            case None:
                contracts[logical] = pinned.contract
                issues.append(_unheard(logical, pinned))
    return Readiness(tuple(issues), contracts)


def pinned_contracts(environment: PinnedEnvironment) -> dict[str, Contract]:
    """Give the contracts with which the run was started."""
    return {logical: pinned.contract for logical, pinned in environment.capabilities.items()}


def _is_far(registry: SourceRegistry, source: str) -> bool:
    """Tell whether asking a source would mean to connect it."""
    if source not in registry.sources():
        return False
    status = registry.status(source)
    return status.kind == "mcp" and status.state in ("idle", "unavailable")


def _bound(logical: str, deployment: Deployment) -> Name:
    source, _, capability = logical.rpartition(".")
    return deployment.bindings.get(source, source), capability


def _missing(logical: str, error: WfError) -> Issue:
    return Issue("error", error.code, "", f"{logical} cannot be called: {error.message}", error.hint)


def _silent(source: str) -> SourceUnavailable:
    return SourceUnavailable(
        source,
        f"The source {source!r} has not answered within {PIN_SECONDS:g} seconds.",
        hint="It goes on starting: try again.",
    )


def _unheard(logical: str, pinned: PinnedCapability) -> Issue:
    message = (
        f"The source {pinned.source!r} has not been asked whether {logical} is still what the run was started with."
    )
    return Issue("warning", "source_not_checked", "", message, "validate_run asks it.")
