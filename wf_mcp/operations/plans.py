"""Reading plans against what is known of the sources and the saved plans that they name."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import anyio
from anyio import to_thread

from wf_core.calls.contract import Contract
from wf_core.validation import Report, read_plan, required_capabilities
from wf_mcp.app import App
from wf_mcp.execution.children import Descendants, descend
from wf_mcp.sources.protocol import SourceUnavailable

ASKING_SECONDS = 10.0
"""How long reading a plan waits for the sources that it names; what they did not say by then is not checked."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A plan as it was read."""

    report: Report
    descendants: Descendants

    @property
    def required_capabilities(self) -> list[str]:
        """Name what a valid plan and its children call, as `source.capability`, sorted."""
        if self.report.plan is None:
            return []
        inner = [name for child in self.descendants.artifacts for name in child.required_capabilities]
        return sorted({*required_capabilities(self.report.plan), *inner})


async def read(app: App, plan: object) -> Reading:
    """Find every issue of a plan. Steps that call a configured source are checked against what it offers now.

    A source that is not configured, or does not answer, is no issue: a deployment may bind the name to another one.
    A child that was not saved is one.
    """
    document = cast("dict[str, Any]", plan) if isinstance(plan, dict) else {}
    descendants = await descend(app.stores.catalog, document)
    mentioned = sorted(set(_sources(document)) & set(app.registry.sources()))
    sources: dict[str, dict[str, Contract]] = {}

    async def ask(name: str) -> None:
        try:
            offered = await app.registry.sources()[name].capabilities()
        except SourceUnavailable:
            return
        sources[name] = {one.name: one.contract for one in offered.values()}

    with anyio.move_on_after(ASKING_SECONDS):
        async with anyio.create_task_group() as tasks:
            for name in mentioned:
                tasks.start_soon(ask, name)
    # In a thread: a long plan takes its time, and others are served meanwhile.
    report = await to_thread.run_sync(partial(read_plan, plan, sources=sources, children=descendants.plans))
    return Reading(report, descendants)


def _sources(document: object) -> Iterator[str]:
    """Name the logical sources of a document that may be no plan at all."""
    if isinstance(document, Mapping):
        entries = cast("Mapping[str, Any]", document)
        match entries.get("use"):
            case str(name):
                yield name.rpartition(".")[0]
            case {"source": str(source)}:
                yield source
            case _:
                pass
        for value in entries.values():
            yield from _sources(value)
    elif isinstance(document, list):
        for value in cast("list[Any]", document):
            yield from _sources(value)
