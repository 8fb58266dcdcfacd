"""Looking at sources, and calling what they offer."""

import secrets
from collections.abc import Iterable
from contextlib import suppress

import anyio

from wf_artifacts.sources.models import Capability
from wf_core import CallContext, jsonvalue
from wf_core.errors import InvalidInput
from wf_core.schemas import compile_schema
from wf_mcp.app import App
from wf_mcp.errors import InvalidArgument, TooLarge
from wf_mcp.operations.checks import check_limit, storable
from wf_mcp.operations.cursors import bind, release
from wf_mcp.operations.models import (
    CallAnswer,
    CapabilityList,
    CapabilityRow,
    CapabilityView,
    Diagnostic,
    HintsView,
    SourceCheck,
    SourceList,
    SourceRow,
)
from wf_mcp.sources.protocol import CallFailed, CallResult, SourceStatus, SourceUnavailable

LIST_SECONDS = 20.0
"""How long a list waits for slow sources; they go on starting, and the next list has them."""


async def list_capabilities(
    app: App, *, query: str | None = None, source: str | None = None, cursor: str | None = None, limit: int = 50
) -> CapabilityList:
    """List what can be called, by name. `query` is words that all occur in the name, the title or the description.

    A source that cannot be asked costs the others nothing: it is a diagnostic.

    Raises:
        SourceNotFound: there is no source of that name.
    """
    check_limit(limit)
    filters = ("capabilities", query, source)
    last = release(cursor, *filters) or ""
    names = app.registry.listed() if source is None else [app.registry.status(source).name]
    offered, diagnostics = await _offered(app, names)
    words = (query or "").lower().split()
    matching = [one for one in offered if one.full_name > last and _mentions(one, words)]
    page = matching[:limit]
    return CapabilityList(
        capabilities=[CapabilityRow.model_validate(_row(one)) for one in page],
        next_cursor=bind(page[-1].full_name, *filters) if len(matching) > limit else None,
        diagnostics=diagnostics,
    )


async def inspect_capability(app: App, *, name: str) -> CapabilityView:
    """Show one capability with its contract.

    Raises:
        CapabilityNotFound: names close matches.
        SourceUnavailable: its source cannot be asked.
    """
    found = await app.registry.find(name)
    return CapabilityView.model_validate(
        _row(found)
        | {
            "input_schema": found.contract.input_schema,
            "output_schema": found.contract.output_schema,
            "digest": found.digest,
        }
    )


async def call_capability(app: App, *, name: str, input: object = None) -> CallAnswer:
    """Call one capability outside any run. It really acts; nothing of it is stored, and nothing repeats it.

    Raises:
        CapabilityNotFound, SourceUnavailable, InvalidInput, TooLarge: nothing was called.
        CallFailed: there is no result, or one that breaks the contract; `executed` says whether it may have acted.
        CallDeferred: an agent or a workflow was called, and waits; nobody is told of its end.
    """
    capability = await app.registry.find(name)
    if capability.contract.deferred:
        raise InvalidArgument(f"{name} is a wait of a run.", hint="Use it as a step of a workflow.")
    given = storable(app, "input", {} if input is None else input, InvalidInput)
    judge = compile_schema(capability.contract.input_schema)
    if not isinstance(given, dict) or (judge is not None and not judge.accepts(given)):
        problems = [] if judge is None else [str(one) for one in judge.problems(given, "input")]
        raise InvalidInput(
            f"The input does not fit {name}: " + ("; ".join(problems) or "it is no object."),
            hint=f'inspect_capability(name="{name}") shows its input_schema; nothing was called.',
        )
    key = f"call_{secrets.token_hex(16)}"
    context = CallContext(
        run_id=key, step_id="call_capability", path=("call_capability",), attempt=1, idempotency_key=key
    )
    result = await app.registry.sources()[capability.source].call(capability.name, given, context)
    _check_result(app, capability, result)
    return CallAnswer(outcome=result.outcome, output=result.output)


async def list_sources(app: App) -> SourceList:
    """List every configured source with what is known of it; none is loaded or connected for it."""
    return SourceList(sources=[_source(app.registry.status(name)) for name in app.registry.listed()])


async def check_source(app: App, *, source: str) -> SourceCheck:
    """Load or connect a source, and say what it offers or why it cannot be used.

    Raises:
        SourceNotFound: there is no source of that name.
    """
    offered, _ = await app.registry.all_capabilities(source)
    status = app.registry.status(source)
    return SourceCheck(
        **dict(_source(status)),
        available=status.state == "ready",
        capabilities=[capability.full_name for capability in offered],
    )


def tell(status: SourceStatus) -> list[Diagnostic]:
    """Tell what there is to know about a source."""
    return [
        Diagnostic(severity=one.severity, code=one.code, message=one.message, hint=one.hint)
        for one in status.diagnostics
    ]


async def _offered(app: App, names: Iterable[str]) -> tuple[list[Capability], list[Diagnostic]]:
    """Ask sources at once; those that take too long are a diagnostic."""
    offered: list[Capability] = []
    waiting = set(names)

    async def ask(name: str) -> None:
        with suppress(SourceUnavailable):  # its status says why
            offered.extend((await app.registry.sources()[name].capabilities()).values())
        waiting.discard(name)

    with anyio.move_on_after(LIST_SECONDS):
        async with anyio.create_task_group() as tasks:
            for name in sorted(waiting):
                tasks.start_soon(ask, name)
    diagnostics = [one for name in app.registry.listed() for one in tell(app.registry.status(name))]
    diagnostics += [_slow(name) for name in sorted(waiting)]
    return sorted(offered, key=lambda capability: capability.full_name), diagnostics


def _slow(name: str) -> Diagnostic:
    return Diagnostic(
        severity="warning",
        code="source_unavailable",
        message=f"The source {name!r} has not answered within {LIST_SECONDS:g} seconds.",
        hint="It goes on starting: ask again.",
    )


def _mentions(capability: Capability, words: list[str]) -> bool:
    text = f"{capability.full_name} {capability.title} {capability.description}".lower()
    return all(word in text for word in words)


def _row(capability: Capability) -> dict[str, object]:
    hints = capability.contract.hints
    return {
        "name": capability.full_name,
        "source": capability.source,
        "title": capability.title or None,
        "description": capability.description or None,
        "outcomes": list(capability.contract.outcomes),
        "hints": HintsView(read_only=hints.read_only, idempotent=hints.idempotent, destructive=hints.destructive),
    }


def _source(status: SourceStatus) -> SourceRow:
    return SourceRow(
        name=status.name,
        kind=status.kind,
        enabled=status.enabled,
        status=status.state,
        diagnostics=tell(status),
    )


def _check_result(app: App, capability: Capability, result: CallResult) -> None:
    size = jsonvalue.size(result.output)
    if size > app.config.max_bytes:
        raise TooLarge(f"The result of {capability.full_name}", size=size, limit=app.config.max_bytes)
    if result.outcome not in capability.contract.outcomes:
        raise CallFailed("output_invalid", f"The outcome {result.outcome!r} is not declared.", executed=True)
    judge = compile_schema(capability.contract.output_schema)
    if result.outcome == "error" or judge is None or judge.accepts(result.output):
        return
    problems = "; ".join(map(str, judge.problems(result.output, "output")))
    raise CallFailed("output_invalid", f"The result does not fit the contract: {problems}", executed=True)
