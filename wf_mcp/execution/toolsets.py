"""Which capabilities an agent's patterns mean, and what a model calls them.

A pattern is matched against `source.capability`. Sources that are built in (`wf.std`, `agents`, `workflows`) are meant
only where a pattern begins with their name.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

import anyio

from wf_artifacts.sources.models import Capability
from wf_core.calls.naming import LONGEST_NAME, spelled
from wf_core.errors import WfError
from wf_core.sessions.models import ToolDefinition
from wf_core.validation import Issue
from wf_core.validation.report import suggest
from wf_mcp.sources.protocol import SourceUnavailable
from wf_mcp.sources.registry import SourceRegistry

_WILD = re.compile(r"[*?[]")
_DIGEST_LENGTH = 8

Offered = Mapping[str, Sequence[Capability] | WfError]
"""What sources said, by name."""


async def resolve_tools(
    registry: SourceRegistry, patterns: Sequence[str], *, seconds: float
) -> tuple[tuple[ToolDefinition, ...], list[Issue]]:
    """Give the tools that patterns mean, in their order, and what is wrong with the patterns.

    Connects the sources that a pattern may mean, and waits up to `seconds` for them. An issue's path is that of the
    pattern.
    """
    meant = {source for pattern in patterns for source in _sources(pattern, registry)}
    offered = await _ask(registry, meant, seconds)
    found: dict[str, Capability] = {}
    issues: list[Issue] = []
    for index, pattern in enumerate(patterns):
        matched, wrong = _match(pattern, registry, offered)
        found.update({capability.full_name: capability for capability in matched if capability.full_name not in found})
        issues += [Issue("error", error.code, f"/tools/{index}", error.message, error.hint) for error in wrong]
    capabilities = list(found.values())
    return tuple(map(_definition, capabilities, tool_names(capabilities))), issues


def tool_names(capabilities: Sequence[Capability]) -> list[str]:
    """Name tools as every vendor takes it, each differently: `word_count`, or `ops_word_count` where several have one.

    The same capabilities in the same order have the same names.
    """
    bare = [_safe(capability.name) for capability in capabilities]
    count = Counter(bare)
    taken: set[str] = {name for name in bare if count[name] == 1 and len(name) <= LONGEST_NAME}
    names: list[str] = []
    for name, capability in zip(bare, capabilities, strict=True):
        names.append(name if name in taken and count[name] == 1 else _apart(capability, taken))
        taken.add(names[-1])
    return names


def _apart(capability: Capability, taken: set[str]) -> str:
    wanted = _safe(f"{capability.source}_{capability.name}")
    if len(wanted) <= LONGEST_NAME and wanted not in taken:
        return wanted
    digest = hashlib.sha256(f"{capability.source}\0{capability.name}".encode()).hexdigest()[:_DIGEST_LENGTH]
    return f"{wanted[: LONGEST_NAME - _DIGEST_LENGTH - 1]}_{digest}"


def _safe(name: str) -> str:
    safe = spelled(name)
    # Some vendors take no name that begins with a digit or a dash.
    return safe if safe[:1].isalpha() or safe.startswith("_") else f"_{safe}"


def _definition(capability: Capability, name: str) -> ToolDefinition:
    contract = capability.contract
    return ToolDefinition(
        name=name,
        capability=capability.full_name,
        source=capability.source,
        description=capability.description or capability.title,
        input_schema=contract.input_schema,
        output_schema=contract.output_schema,
        outcomes=contract.outcomes,
        digest=capability.digest,
        read_only=contract.hints.read_only,
        idempotent=contract.hints.idempotent,
    )


def _literal(pattern: str) -> str:
    """Give what a pattern begins with before anything may differ."""
    return _WILD.split(pattern, maxsplit=1)[0]


def _names(source: str, pattern: str) -> bool:
    return pattern.startswith(f"{source}.") and _literal(pattern).startswith(f"{source}.")


def _sources(pattern: str, registry: SourceRegistry) -> Iterator[str]:
    """Give the sources that a pattern may mean something of. Without a wildcard, the one with the longest name."""
    named = [source for source in registry.sources() if _names(source, pattern)]
    if _literal(pattern) == pattern:
        yield from sorted(named, key=len)[-1:]
        return
    yield from named
    for name, source in registry.sources().items():
        widely = source.kind in ("python", "mcp") and f"{name}.".startswith(_literal(pattern))
        if widely and name not in named:
            yield name


async def _ask(registry: SourceRegistry, sources: set[str], seconds: float) -> Offered:
    offered: dict[str, Sequence[Capability] | WfError] = {}

    async def ask(source: str) -> None:
        try:
            capabilities = await registry.sources()[source].capabilities()
            offered[source] = sorted(capabilities.values(), key=lambda capability: capability.name)
        except WfError as error:
            offered[source] = error

    with anyio.move_on_after(seconds):
        async with anyio.create_task_group() as tasks:
            for source in sources:
                tasks.start_soon(ask, source)
    return {source: offered.get(source, SourceUnavailable.silent(source, seconds)) for source in sources}


def _match(pattern: str, registry: SourceRegistry, offered: Offered) -> tuple[list[Capability], list[WfError]]:
    matched: list[Capability] = []
    wrong: list[WfError] = []
    known: list[str] = []
    for source in _sources(pattern, registry):
        match offered[source]:
            case WfError() as error:
                # Everything of every source: one that is switched off has nothing.
                if _names(source, pattern) or error.code != "source_disabled":
                    wrong.append(error)
            case capabilities:
                known += [capability.full_name for capability in capabilities]
                matched += [each for each in capabilities if _matches(pattern, each.full_name)]
    if not matched and not wrong:
        wrong.append(_nothing(pattern, known or [f"{source}.*" for source in registry.sources()]))
    return matched, wrong


def _matches(pattern: str, name: str) -> bool:
    # A name may hold what looks like a wildcard.
    return pattern == name or fnmatchcase(name, pattern)


class PatternMatchesNothing(WfError, LookupError):
    """No source offers what a pattern means."""

    code = "capability_not_found"


def _nothing(pattern: str, known: Sequence[str]) -> WfError:
    hint = suggest(pattern, known) or "list_capabilities() shows every one."
    return PatternMatchesNothing(f"No capability is called `{pattern}`.", hint=hint)
