"""Agent files: who an agent is, which model answers for it, which tools it has, and how their calls run.

    {"slug": "helper", "model": "openai:gpt-5.1", "systemPrompt": "…", "tools": ["files.*", "ops.word_count"]}

Owns the record and its file. Resolving the tools and pinning all of it to a session is `wf_mcp.execution.agents`; what
`toolCallPolicyConfig` means is `wf_core.calls`.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, cast

from pydantic import AfterValidator, ConfigDict, Field, PlainValidator, ValidationError
from pydantic.alias_generators import to_camel

from wf_core.calls.policy_data import read_policy
from wf_core.errors import InvalidPolicy, NotJson, WfError
from wf_core.ids import close_matches
from wf_core.jsonvalue import loads
from wf_core.sessions.models import ExecutionMode, YieldStrategy
from wf_mcp.config.files import read_bounded
from wf_mcp.config.models import Config, ConfigRecord, SourceName
from wf_mcp.config.problems import problems
from wf_mcp.config.runners import InvalidRunner, isolation_faults, read_runner


class InvalidAgent(WfError, ValueError):
    """An agent cannot be used as its file describes it. Nothing was started."""

    code = "invalid_agent"


class AgentNotFound(WfError, LookupError):
    """There is no agent of that name any more, or there never was."""

    code = "agent_not_found"


def _read_strategy(value: object) -> YieldStrategy:
    given: dict[str, Any] = dict(cast("dict[str, Any]", value)) if isinstance(value, dict) else {"tag": value}
    match given:
        case {"tag": "yieldWhenAllDone" | "yieldOnAnyProgress" as tag, **rest} if not rest:
            return YieldStrategy(tag)
        case {"tag": "yieldOnTimeout", "milliseconds": int(milliseconds), **rest} if not rest and milliseconds > 0:
            return YieldStrategy("yieldOnTimeout", int(milliseconds))
        case _:
            raise ValueError(
                'write "yieldWhenAllDone", "yieldOnAnyProgress" or {"tag": "yieldOnTimeout", "milliseconds": 500}'
            )


def _read_pattern(pattern: str) -> str:
    if "." not in pattern.strip(".") and "*" not in pattern:
        raise ValueError("write source.capability, as in files.* or ops.word_count")
    return pattern


def _check_policy(policy: dict[str, Any]) -> dict[str, Any]:
    try:
        read_policy(policy, "")
    except InvalidPolicy as error:
        faults = "; ".join(f"{issue['where'] or 'policy'}: {issue['message']}" for issue in error.issues)
        raise ValueError(faults) from error
    return policy


def _check_runner(runner: dict[str, Any]) -> dict[str, Any]:
    try:
        read_runner(runner)
    except InvalidRunner as error:
        raise ValueError("; ".join(error.details["problems"])) from error
    return runner


ToolPattern = Annotated[str, AfterValidator(_read_pattern)]
"""`source.capability`, with `*`, `?` and `[…]` for what may differ: `files.*`."""


class AgentFile(ConfigRecord):
    """Everything in an agent file. Keys are spelled `systemPrompt` or `system_prompt`."""

    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True, validate_by_alias=True)

    slug: SourceName
    description: str = ""
    """Shown to whoever may call the agent."""
    system_prompt: str = ""
    model: str = Field(pattern=r"^[^\x00]+$")
    """`vendor:model`, or `scripted:FILE`, relative to the folder of the agent file."""
    tools: list[ToolPattern] = []
    execution_mode: ExecutionMode = "asynchronous"
    tool_call_policy_config: Annotated[dict[str, Any], AfterValidator(_check_policy)] = {}
    """How calls run, as `wf_core.calls.policy_data` reads it. Empty: each at once."""
    max_concurrency: int = Field(default=1, ge=1)
    """How many calls of a turn run at the same time."""
    async_yield_strategy: Annotated[YieldStrategy, PlainValidator(_read_strategy)] = YieldStrategy()
    async_call_timeout_seconds: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    max_turns: int = Field(default=50, ge=1)
    """How often the model is asked at most for one thing that the user says."""
    runner: Annotated[dict[str, Any], AfterValidator(_check_runner)] | None = None
    """Where isolated calls run, as `wf_mcp.config.runners` reads it."""


def load_agent(file: Path) -> AgentFile:
    """Read an agent file.

    Raises:
        InvalidAgent: it is unreadable, is no JSON, or has a key or value that is not understood. Names every place.
    """
    try:
        data = read_bounded(file)
    except OSError as exc:
        raise InvalidAgent(
            f"The agent file {file.name} cannot be read: {exc.strerror}.", hint="Name an agent file that is there."
        ) from exc
    return parse_agent(data, name=file.name)


def parse_agent(data: bytes | str, *, name: str) -> AgentFile:
    """Read the text of an agent file called `name`.

    Raises:
        InvalidAgent: as for `load_agent`.
    """
    try:
        return read_agent(loads(data, name), name=name)
    except NotJson as exc:
        raise InvalidAgent(
            f"{name} is no JSON: {exc.reason}.", hint="It takes no comments and no trailing commas."
        ) from exc


def read_agent(document: object, *, name: str, checks_isolation: bool = True) -> AgentFile:
    """Read the document of an agent; `name` is what messages call it.

    `checks_isolation` says whether its policy and its runner together have to say where isolated calls run.

    Raises:
        InvalidAgent: as for `load_agent`.
    """
    try:
        agent = AgentFile.model_validate(document)
    except ValidationError as exc:
        raise _invalid(name, problems(exc, _known_keys, either_spelling=True)) from None
    if checks_isolation:
        runner, policy = read_runner(agent.runner or {}), read_policy(agent.tool_call_policy_config)
        faults = isolation_faults(policy, runner, where="toolCallPolicyConfig")
        if faults:
            raise _invalid(name, [f"{place}: {fault}" for place, fault in faults])
    return agent


def _invalid(name: str, faults: list[str]) -> InvalidAgent:
    told = "; ".join(faults)
    return InvalidAgent(f"{name}: {told}.", hint="docs/agents.md shows every key.", details={"problems": faults})


def configured_file(config: Config, slug: str) -> Path:
    """Give the agent file that wf.json names for a slug.

    Raises:
        AgentNotFound: wf.json names none; the hint says which it names.
    """
    entry = config.agents.get(slug)
    if entry is None:
        close = close_matches(slug, config.agents)
        raise AgentNotFound(
            f"wf.json names no agent {slug!r}.",
            hint=f"Did you mean {' or '.join(close)}?" if close else 'Add it under "agents" in wf.json.',
            details={"agent": slug, "close_matches": close},
        )
    return config.folder / entry.file


def find_agent(file: Path, slug: str) -> AgentFile:
    """Read the agent `slug` from its file.

    Raises:
        AgentNotFound: the file is gone, or describes an agent of another name.
        InvalidAgent: as for `load_agent`.
    """
    if not _is_there(file):
        raise AgentNotFound(
            f"The file {file.name} of the agent {slug!r} is gone.",
            hint="Bring the file back, or name the one that it has become.",
            details={"agent": slug},
        )
    agent = load_agent(file)
    if agent.slug != slug:
        raise AgentNotFound(
            f"{file.name} describes the agent {agent.slug!r}, not {slug!r}.",
            hint=f'Write "slug": "{slug}" in it again, or name the file of {slug!r}.',
            details={"agent": slug, "found": agent.slug},
        )
    return agent


def _is_there(file: Path) -> bool:
    try:
        return file.is_file()
    except OSError:  # no file can have this name: it is too long, or leads around in a circle
        return False


def _known_keys(_: Sequence[int | str]) -> list[str]:
    return [field.alias or name for name, field in AgentFile.model_fields.items()]
