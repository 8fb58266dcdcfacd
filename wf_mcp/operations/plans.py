"""Reading plans against what is known of the sources that they name."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, cast

import anyio
from anyio import to_thread

from wf_core.calls.contract import Contract
from wf_core.validation import Report, read_plan
from wf_mcp.app import App
from wf_mcp.sources.protocol import SourceUnavailable

ASKING_SECONDS = 10.0
"""How long reading a plan waits for the sources that it names; what they did not say by then is not checked."""


async def read(app: App, plan: object) -> Report:
    """Report every issue of a plan. Steps that call a configured source are checked against what it offers now.

    A source that is not configured, or does not answer, is no issue: a deployment may bind the name to another one.
    """
    mentioned = sorted(set(_sources(plan)) & set(app.registry.sources()))
    contracts: dict[str, Contract] = {}

    async def ask(name: str) -> None:
        try:
            offered = await app.registry.sources()[name].capabilities()
        except SourceUnavailable:
            return
        contracts.update({one.full_name: one.contract for one in offered.values()})

    with anyio.move_on_after(ASKING_SECONDS):
        async with anyio.create_task_group() as tasks:
            for name in mentioned:
                tasks.start_soon(ask, name)
    # In a thread: a long plan takes its time, and others are served meanwhile.
    return await to_thread.run_sync(partial(read_plan, plan, contracts=contracts))


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
