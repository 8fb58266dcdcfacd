"""A session between two transitions: the agent as it was pinned, and the turns of the conversation.

Nothing in it is a time or a chance: the same state gives the same bytes wherever it is taken on.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from wf_core.calls.policy import ToolCall
from wf_core.calls.results import ToolResult
from wf_core.calls.tracked import TrackedCall
from wf_core.jsonvalue import JsonValue

ExecutionMode = Literal["synchronous", "asynchronous"]
YieldWhen = Literal["yieldWhenAllDone", "yieldOnAnyProgress", "yieldOnTimeout"]


@dataclass(frozen=True, slots=True)
class YieldStrategy:
    """When the model is asked although calls in the background still run."""

    when: YieldWhen = "yieldWhenAllDone"
    milliseconds: int | None = None
    """Of `yieldOnTimeout`."""


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool as the model knows it, and the capability that it is pinned to."""

    name: str
    """`[a-zA-Z0-9_-]{1,64}`, unique in its agent."""
    capability: str
    """`source.name`, by the sources' own names."""
    source: str
    description: str
    input_schema: JsonValue
    output_schema: JsonValue
    outcomes: tuple[str, ...]
    digest: str
    """Of the contract."""
    read_only: bool
    idempotent: bool

    @property
    def own_name(self) -> str:
        """The capability's name as its source knows it."""
        return self.capability.removeprefix(f"{self.source}.")

    @property
    def repeatable(self) -> bool:
        """Whether a call may be made again without asking anybody."""
        return self.read_only or self.idempotent


@dataclass(frozen=True, slots=True)
class AgentSnapshot:
    """An agent as a session was started with it. Never changed afterwards."""

    slug: str
    description: str
    system_prompt: str
    model: str
    tools: tuple[ToolDefinition, ...] = ()
    execution_mode: ExecutionMode = "asynchronous"
    policy: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    """`toolCallPolicyConfig`, as data; empty: everything is run at once. What Python decided is in the calls."""
    max_concurrency: int = 1
    yield_strategy: YieldStrategy = YieldStrategy()
    call_timeout_seconds: float | None = None
    """Ends a call in the background that runs too long."""
    max_turns: int = 50
    """How often the model is asked at most, since the last thing that the user said."""
    runner: Mapping[str, JsonValue] | None = None
    """Where isolated calls run, as in the agent file."""
    origin: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    """Where the definition came from: `{"config": slug}` or `{"file": path}`; the agent has to be there still."""

    def tool(self, name: str) -> ToolDefinition | None:
        """Give the tool that a model means: by its name, or by that of its capability."""
        return next((tool for tool in self.tools if name in (tool.name, tool.capability)), None)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one answer, as the model's vendor counts them."""

    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True)
class PlacedResult:
    """What a model is given for one of its calls: exactly one for each, in call order."""

    call_id: str
    provider_call_id: str
    name: str
    result: ToolResult
    held: bool = False
    """Whether this only says that there is no result yet (it runs, or nobody knows): it comes once, as a notice."""


@dataclass(frozen=True, slots=True)
class Notice:
    """What became of a call that the model was told to wait for."""

    call_id: str
    name: str
    result: ToolResult
    held: bool = False
    """Whether this only says that nobody knows: the process that ran it is gone. The result still comes, once."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that a user sends along."""

    mime_type: str
    base64_data: str
    filename: str | None = None


@dataclass(frozen=True, slots=True)
class UserTurn:
    """What the model is asked with: words of the user, results of its calls, and notices."""

    id: str
    query: str | None = None
    results: tuple[PlacedResult, ...] = ()
    notices: tuple[Notice, ...] = ()
    attachments: tuple[Attachment, ...] = ()


@dataclass(frozen=True, slots=True)
class LlmTurn:
    """What the model said."""

    id: str
    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()


@dataclass(slots=True)
class PartialUserTurn:
    """The calls of the model's last turn while some have no result yet."""

    id: str
    calls: list[TrackedCall]


Turn: TypeAlias = UserTurn | LlmTurn | PartialUserTurn


@dataclass(frozen=True, slots=True)
class Parent:
    """Who waits for this session's answer."""

    kind: Literal["session", "run"]
    id: str
    token: str
    """By which the answer is delivered to it."""


@dataclass(frozen=True, slots=True)
class CallerPolicy:
    """The policy of an agent that called this one, itself or through others: it holds here, too."""

    agent: str
    policy: Mapping[str, JsonValue]
    """As data."""
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    """What that agent calls a capability, where that is not the capability's own name."""


@dataclass(frozen=True, slots=True)
class SessionHeader:
    """What of a session never changes, and is stored once."""

    id: str
    seed: str = field(repr=False)
    agent: AgentSnapshot
    parent: Parent | None = None
    callers: tuple[CallerPolicy, ...] = ()
    """The nearest first."""


@dataclass(slots=True)
class Session:
    """A conversation of an agent. Its owner is whoever advances it; transitions update it in place."""

    id: str
    seed: str = field(repr=False)
    """Secret; with a call's id it gives the call's token, so the same state gives the same tokens, a fork others."""
    agent: AgentSnapshot
    turns: list[Turn] = field(default_factory=list[Turn])
    """The oldest first. At most the last is partial."""
    parent: Parent | None = None
    callers: tuple[CallerPolicy, ...] = ()
    """Policies that hold beside the agent's own, the nearest caller's first."""
    held: dict[str, TrackedCall] = field(default_factory=dict[str, TrackedCall])
    """Calls by id that the model was told to wait for, in that order; they leave with their notice."""
    queries: list[str] = field(default_factory=list[str])
    """What the user said while calls were open; joins the next user turn."""
    attachments: list[Attachment] = field(default_factory=list[Attachment])
    """What the user sent along with `queries`."""
    notices: list[Notice] = field(default_factory=list[Notice])
    """What the next user turn tells."""
    asked: int = 0
    """How often the model answered since the user's words last reached it: `agent.max_turns` at most."""
    provider_ids: set[str] = field(default_factory=set[str], repr=False)
    """Every provider call id of the turns: derived from them, so that a new one is made unique without reading them."""
    position: int = 0
    """How many events have made it."""

    fresh_events: list[bytes] = field(default_factory=list[bytes], repr=False, compare=False)
    """Not stored with the state: the events since the last `take_events`, one JSON object without a newline each."""

    def take_events(self) -> list[bytes]:
        """Drain the events made since the last take: what a store has to append."""
        taken, self.fresh_events = self.fresh_events, []
        return taken
