"""How a call is to run: what a policy decides, and the same said as data.

A policy is a pure function of a call and where it stands. What carries a disposition out is `wf_mcp.execution`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from wf_core.jsonvalue import JsonValue


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call as a model asked for it, or as a workflow step makes it."""

    name: str
    """As the model knows the tool: `word_count`."""
    arguments: JsonValue
    provider_call_id: str = ""
    capability: str = ""
    """Whose it is, `ops.word_count`. Empty where there is no such tool."""


@dataclass(frozen=True, slots=True)
class PolicyContext:
    """Where a call stands, as far as it can be written down: for a policy, for a worker, and while the call waits."""

    session_id: str | None = None
    run_id: str | None = None
    turn_id: str | None = None
    """The step id, in a workflow."""
    conversation_id: str | None = None
    """The session or run that waits for this one, else this one itself."""
    call_stack: tuple[str, ...] = ()
    """The agent, or the deployment, that makes the call. Who called that is a call of `parent`."""
    allowed_tools: tuple[str, ...] = ()
    parent: str | None = None
    """The session or run that waits for this one."""


@dataclass(frozen=True, slots=True)
class IsolationSpec:
    """Where an isolated call runs. What is left out is as the runner has it."""

    sandbox: Literal["process", "container", "http"] | None = None
    """None: as the agent's runner says."""
    image: str | None = None
    options: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    """Limits and the like, by the names in docs/isolation.md: `memory`, `cpus`, `network`, `timeoutSeconds` …"""


@dataclass(frozen=True, slots=True)
class RunSync: ...


@dataclass(frozen=True, slots=True)
class RunAsync: ...


@dataclass(frozen=True, slots=True)
class RunIsolated:
    spec: IsolationSpec = IsolationSpec()


@dataclass(frozen=True, slots=True)
class Defer:
    reason: str
    approval: bool = False
    """Whether a person allows the call instead of delivering its result: it is then carried out here."""
    expires_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class WithTimeout:
    seconds: float


@dataclass(frozen=True, slots=True)
class WithRetries:
    times: int
    """Further attempts, made only when the call is known not to have executed or may be repeated."""


@dataclass(frozen=True, slots=True)
class WithCacheKey:
    key: str | None = None
    """None: the call's arguments are the key."""


@dataclass(frozen=True, slots=True)
class WithLabel:
    text: str


Decorator: TypeAlias = WithTimeout | WithRetries | WithCacheKey | WithLabel


@dataclass(frozen=True, slots=True)
class Decorate:
    decorators: tuple[Decorator, ...]
    inner: "Disposition"


Disposition: TypeAlias = RunSync | RunAsync | RunIsolated | Defer | Decorate
BareDisposition: TypeAlias = RunSync | RunAsync | RunIsolated | Defer

CallPolicy: TypeAlias = Callable[[PolicyContext, ToolCall], Disposition]


@dataclass(frozen=True, slots=True)
class AppliedPolicy:
    """Why a call runs as it does."""

    disposition: Disposition
    rule: str
    """The rule that chose it: `default`, or the rule's own pattern."""


def default_call_policy(context: PolicyContext, call: ToolCall) -> Disposition:  # noqa: ARG001
    """Run everything at once."""
    return RunSync()


def bare(disposition: Disposition) -> BareDisposition:
    """Give what stands inside every decoration."""
    while isinstance(disposition, Decorate):
        disposition = disposition.inner
    return disposition


def decorators(disposition: Disposition) -> tuple[Decorator, ...]:
    """Give every decoration, the outermost first."""
    found: list[Decorator] = []
    while isinstance(disposition, Decorate):
        found += disposition.decorators
        disposition = disposition.inner
    return tuple(found)
