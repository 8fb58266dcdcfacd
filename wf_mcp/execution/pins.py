"""What a run is pinned to, and whether that is still what the sources offer.

Owns how a plan's logical names meet live capabilities: once when a run starts, and again whenever its pin is looked at.
How much a contract may differ is decided in `wf_core.validation.drift`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import anyio
from anyio import to_thread

from wf_artifacts.catalog.definitions import Definition
from wf_artifacts.catalog.models import Artifact, Deployment
from wf_artifacts.catalog.store import CatalogStore
from wf_artifacts.runs.environment import PinnedCapability, PinnedEnvironment
from wf_artifacts.sources.models import Capability
from wf_core import jsonvalue
from wf_core.calls.contract import Contract
from wf_core.calls.policy import ToolCall
from wf_core.calls.policy_data import read_policy
from wf_core.errors import WfError
from wf_core.plan import CapabilityRef, WorkflowPlan
from wf_core.schemas.pointers import split_pointer
from wf_core.validation import Issue, read_plan
from wf_core.validation.capabilities import Sources
from wf_core.validation.drift import called_capabilities, drift, effective, usage
from wf_mcp.execution.children import Descendants, descend, descendants_of
from wf_mcp.execution.recent import Recent
from wf_mcp.sources.protocol import SourceNotFound, SourceUnavailable
from wf_mcp.sources.registry import SourceRegistry

PIN_SECONDS = 30.0
"""How long a start waits for sources: together with waiting for the run it stays within what clients allow a call."""

Name = tuple[str, str]
"""Source and capability."""

_Plans = tuple[tuple[str, int, str], ...]
"""Id, version and digest of an artifact and its descendants."""

_CALLED = Recent[_Plans, list[CapabilityRef]]()
_CHECKED = Recent[tuple[_Plans, tuple[object, ...], tuple[tuple[str, str], ...]], list[Issue]]()
_PINNED = Recent[tuple[_Plans, bytes], PinnedEnvironment]()
"""A deployment that is started again and again is read once: the keys hold all that is read, of plans the digests."""

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
        return _errors(self.issues)


async def pin(registry: SourceRegistry, catalog: CatalogStore, *, artifact: Artifact, deployment: Deployment) -> Pinned:
    """Load every child, resolve every logical name by the deployment's bindings, and validate it all against that.

    Connects the sources that the plans name, and waits for them for a while. The bindings hold at any depth; a logical
    name without one means the source of that name.

    Raises:
        StateError, StoreUnavailable: a child cannot be read.
    """
    return await _pin(registry, artifact, await descend(catalog, artifact.plan), deployment)


async def pin_definition(registry: SourceRegistry, catalog: CatalogStore, definition: Definition) -> Pinned:
    """Pin what a deployment runs, as `pin` does. While it and the contracts are the same, so is the environment."""
    descendants = await descendants_of(catalog, definition)
    pinned = await _pin(registry, definition.artifact, descendants, definition.deployment)
    if pinned.environment is None:
        return pinned
    return replace(pinned, environment=_PINNED.keep(_content(pinned.environment), pinned.environment))


async def ask(registry: SourceRegistry, names: Iterable[Name], *, seconds: float | None = None) -> Found:
    """Ask all sources at once, each for what is wanted of it; after `seconds` give what was heard.

    Within `seconds`, what a source listed lately is as good. Who waits for however long it takes wants to know how
    things are: each source lists anew then, once for all who ask at the time.
    """
    return await _ask(registry, names, seconds, anyio.current_time() if seconds is None else None)


async def ask_since(registry: SourceRegistry, names: Iterable[Name], moment: float, *, seconds: float) -> Found:
    """Ask as `ask` does, where what a source listed before `moment` does not count."""
    return await _ask(registry, names, seconds, moment)


async def known(registry: SourceRegistry, names: Iterable[Name]) -> Found:
    """Look at what is known of the sources without connecting any."""
    near = {name for name in names if not _is_far(registry, name[0])}
    return await _ask(registry, near, None, None)


def names(environment: PinnedEnvironment) -> set[Name]:
    """Give what a pin needs of the sources."""
    return {(pinned.source, pinned.name) for pinned in environment.capabilities.values()}


def readiness(environment: PinnedEnvironment, found: Found) -> Readiness:
    """Compare the pin with what the sources said. What they did not say in time is a warning."""
    issues: list[Issue] = []
    contracts: dict[str, Contract] = {}
    drifted: dict[str, Contract] = {}
    for logical, pinned in environment.capabilities.items():
        match found.get((pinned.source, pinned.name)):
            case Capability() as live:
                contracts[logical] = effective(pinned.contract, live.contract)
                if live.digest != pinned.digest:
                    drifted[logical] = live.contract
            case WfError() as error:
                issues.append(_missing(logical, error))
            case None:
                contracts[logical] = pinned.contract
                issues.append(_unheard(logical, pinned))
    return Readiness((*issues, *_drift(environment, drifted)), contracts)


def pinned_contracts(environment: PinnedEnvironment) -> dict[str, Contract]:
    """Give the contracts with which the run was started."""
    return {logical: pinned.contract for logical, pinned in environment.capabilities.items()}


async def _ask(registry: SourceRegistry, names: Iterable[Name], seconds: float | None, since: float | None) -> Found:
    found: dict[Name, Capability | WfError] = {}

    async def look(name: Name) -> None:
        try:
            found[name] = await registry.capability(*name, since=since)
        except WfError as error:
            found[name] = error

    with anyio.move_on_after(seconds):
        async with anyio.create_task_group() as tasks:
            for name in set(names):
                tasks.start_soon(look, name)
    return found


async def _pin(
    registry: SourceRegistry, artifact: Artifact, descendants: Descendants, deployment: Deployment
) -> Pinned:
    family = (artifact, *descendants.artifacts)
    # In threads: long plans take their time, and others are served meanwhile.
    plans = _digests(family)
    called = await _CALLED.get(plans, partial(to_thread.run_sync, partial(_called, family)))
    issues = [*_namesakes(called), *_idle_bindings(called, deployment), *_idle_rules(called, deployment)]
    wanted = {reference: _bound(reference, deployment) for reference in called}
    found = await ask(registry, wanted.values(), seconds=PIN_SECONDS)
    capabilities: dict[str, PinnedCapability] = {}
    sources: dict[str, dict[str, Contract]] = {}
    for reference, name in wanted.items():
        match found.get(name):
            case None:
                issues.append(_missing(str(reference), SourceUnavailable.silent(name[0], PIN_SECONDS)))
            case Capability() as live:
                capabilities[str(reference)] = PinnedCapability(
                    source=live.source, name=live.name, contract=live.contract, digest=live.digest
                )
                sources.setdefault(reference.source, {})[reference.capability] = live.contract
            case WfError() as error:
                issues.append(replace(_missing(str(reference), error), hint=_spelling(reference, error, registry)))
    if not _errors(issues):
        offered = tuple(sorted((logical, pinned.digest) for logical, pinned in capabilities.items()))
        checking = partial(to_thread.run_sync, partial(_check, artifact, descendants, sources))
        issues += await _CHECKED.get((plans, tuple(descendants.absent), offered), checking)
    if _errors(issues):
        return Pinned(None, tuple(issues))
    environment = PinnedEnvironment(
        artifact=artifact, children=descendants.artifacts, deployment=deployment, capabilities=capabilities
    )
    return Pinned(environment, tuple(issues))


def _digests(family: Iterable[Artifact]) -> _Plans:
    return tuple((one.artifact_id, one.version, one.digest) for one in family)


def _content(environment: PinnedEnvironment) -> tuple[_Plans, bytes]:
    """Give all that an environment holds, of its plans the digests."""
    rest = environment.model_dump(exclude={"artifact": {"plan"}, "children": {"__all__": {"plan"}}})
    return _digests((environment.artifact, *environment.children)), jsonvalue.dumps(rest)


def _is_far(registry: SourceRegistry, source: str) -> bool:
    """Tell whether asking a source would mean to connect it."""
    if source not in registry.sources():
        return False
    status = registry.status(source)
    return status.kind == "mcp" and status.state in ("idle", "unavailable")


def _called(family: Sequence[Artifact]) -> list[CapabilityRef]:
    """Give what a plan and its children call, by name."""
    called = (called_capabilities(WorkflowPlan.model_validate(artifact.plan)) for artifact in family)
    return sorted(frozenset[CapabilityRef]().union(*called), key=str)


def _namesakes(called: Sequence[CapabilityRef]) -> Iterator[Issue]:
    """Refuse two capabilities that have one name as text: a run would take one for the other."""
    for one, other in pairwise(called):
        if str(one) == str(other):
            message = (
                f"`{one}` is both `{one.capability}` of {one.source!r} and `{other.capability}` of {other.source!r}."
            )
            yield Issue("error", "ambiguous_capability", "", message, "Give one of the two sources another name.")


def _idle_bindings(called: Iterable[CapabilityRef], deployment: Deployment) -> Iterator[Issue]:
    """Say which bindings do nothing, because no plan uses the name."""
    used = {reference.source for reference in called}
    for logical in deployment.bindings:
        if logical not in used:
            message = f"The plan uses no source {logical!r}."
            yield Issue("warning", "unused_binding", "", message, "Correct the binding.")


def _idle_rules(called: Iterable[CapabilityRef], deployment: Deployment) -> Iterator[Issue]:
    """Say which rules of the call policy are for no step: a slip in one lets calls through that it was to hold."""
    if deployment.call_policy is None:
        return
    calls = [ToolCall(reference.capability, {}, capability=str(reference)) for reference in called]
    for rule in read_policy(deployment.call_policy, "call_policy").rules:
        if not any(rule.matches(call) for call in calls):
            message = f"The rule {rule.tool!r} of the call policy is for no step of the plan."
            yield Issue("warning", "unused_rule", "", message, "A rule names source.capability, or a glob of it.")


def _bound(reference: CapabilityRef, deployment: Deployment) -> Name:
    return deployment.bindings.get(reference.source, reference.source), reference.capability


def _check(artifact: Artifact, descendants: Descendants, sources: Sources) -> list[Issue]:
    """Read a plan and its children against what they would call."""
    issues = read_plan(artifact.plan, sources=sources, children=descendants.plans).issues
    for child in descendants.artifacts:
        # What looks odd in a child was said when it was saved.
        issues += [_in_child(child, issue) for issue in _errors(read_plan(child.plan, sources=sources).issues)]
    return issues


def _drift(environment: PinnedEnvironment, drifted: Mapping[str, Contract]) -> Iterator[Issue]:
    """Say what contracts that are no longer the pinned ones mean to the plan and to its children."""
    if not drifted:
        return
    for artifact in (environment.artifact, *environment.children):
        used = usage(WorkflowPlan.model_validate(artifact.plan))
        for logical in drifted.keys() & used.keys():
            for issue in drift(used[logical], environment.capabilities[logical].contract, drifted[logical]):
                named = _named(logical, issue)
                yield named if artifact is environment.artifact else _in_child(artifact, named)


def _named(logical: str, issue: Issue) -> Issue:
    """Say of which capability a contract changed, and where it is called: by itself the message names neither."""
    step = ".".join(_steps(split_pointer(issue.path)))
    calls = f", which the step `{step}` calls" if step else ""
    return replace(issue, message=f"{logical}{calls}: {issue.message}")


def _steps(keys: Sequence[str]) -> Iterator[str]:
    """Name the step at a place, after those in whose plans it stands."""
    match keys:
        case ("steps", step, "workflow", "plan", *inner):
            yield step
            yield from _steps(inner)
        case ("steps", step, *_):
            yield step
        case _:
            pass


def _in_child(child: Artifact, issue: Issue) -> Issue:
    """Say in which child an issue stands: its path leads nowhere in the plan that was asked about."""
    message = f"In {child.artifact_id} {child.version} at {issue.path or '/'}: {issue.message}"
    return replace(issue, path="", message=message)


def _errors(issues: Iterable[Issue]) -> list[Issue]:
    return [issue for issue in issues if issue.severity == "error"]


def _spelling(reference: CapabilityRef, error: WfError, registry: SourceRegistry) -> str | None:
    """Where a name was split inside of the capability's own name, show how the two are kept apart."""
    meant = [source for source in registry.sources() if str(reference).startswith(f"{source}.")]
    if not (isinstance(error, SourceNotFound) and meant):
        return error.hint
    source = max(meant, key=len)
    capability = str(reference).removeprefix(f"{source}.")
    return f'Write {{"source": "{source}", "capability": "{capability}"}}: a text is split at its last dot.'


def _missing(logical: str, error: WfError) -> Issue:
    return Issue("error", error.code, "", f"{logical} cannot be called: {error.message}", error.hint)


def _unheard(logical: str, pinned: PinnedCapability) -> Issue:
    message = (
        f"The source {pinned.source!r} has not been asked whether {logical} is still what the run was started with."
    )
    return Issue("warning", "source_not_checked", "", message, "validate_run asks it.")
