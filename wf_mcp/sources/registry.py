"""Every configured source by its name, from the start of a program to its end.

Sources load and connect when they are first used; a source that cannot be used leaves the others alone.
"""

import os
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import asynccontextmanager
from types import MappingProxyType
from typing import Self

import anyio
from anyio.abc import TaskGroup

from wf_artifacts.clock import Clock, SystemClock
from wf_artifacts.sources.models import Capability
from wf_mcp.config import Config, Redactor
from wf_mcp.config.expansion import secrets_of
from wf_mcp.config.models import STD_SOURCE
from wf_mcp.config.redaction import redacted_logs
from wf_mcp.sources.errors import CapabilityNotFound, SourceNotFound, SourceUnavailable
from wf_mcp.sources.protocol import CapabilitySource, Diagnostic, SourceStatus, offered_since
from wf_mcp.sources.python import PythonSource
from wf_mcp.sources.redacted import RedactedSource
from wf_mcp.sources.std import StdSource
from wf_mcp.sources.upstream import UpstreamSource

CONNECT_SECONDS = 60.0
"""How long an upstream server may take to start and answer."""

_TALKATIVE_LOGGERS = (
    "client",
    "httpx2",
    "mcp.client.stdio",
    "mcp.client.streamable_http",
    "mcp.shared.jsonrpc_dispatcher",
)
"""Of the SDK and its HTTP client: they log messages and URLs, and tracebacks that show them."""


class SourceRegistry:
    """The sources of one program. Open one with `SourceRegistry.open`."""

    def __init__(self, sources: Mapping[str, CapabilitySource]) -> None:
        self._kept = dict(sources)
        self._sources = MappingProxyType(self._kept)
        self._unlisted: set[str] = set()

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        config: Config,
        redactor: Redactor,
        *,
        environ: Mapping[str, str] = os.environ,
        clock: Clock | None = None,
        connect_seconds: float = CONNECT_SECONDS,
    ) -> AsyncGenerator[Self, None]:
        """Offer the configured sources and the built-in one. At the end every connection and process is closed.

        Tells `redactor` every secret of the configuration first. Enter and leave in the same task.
        """
        for secret in secrets_of(config, environ):
            redactor.add(secret)
        sources: list[CapabilitySource] = [StdSource(STD_SOURCE, clock or SystemClock())]
        for name, module in config.python_sources.items():
            sources.append(PythonSource(name, module, config.folder, redactor, environ))
        with redacted_logs(redactor, _TALKATIVE_LOGGERS):
            async with _connection_tasks() as tasks:
                for name, server in config.mcp_servers.items():
                    sources.append(
                        UpstreamSource(name, server, config.folder, redactor, environ, tasks, connect_seconds)
                    )
                try:
                    yield cls({source.name: RedactedSource(source, redactor) for source in sources})
                finally:
                    await _close(sources)

    def add(self, source: CapabilitySource, *, listed: bool = True) -> None:
        """Offer one more source, for as long as the program goes; `listed` says whether lists of all show it.

        It holds nothing that has to be closed.
        """
        self._kept[source.name] = source
        if not listed:
            self._unlisted.add(source.name)

    def listed(self) -> list[str]:
        """Name the sources that a list of all shows."""
        return [name for name in self._sources if name not in self._unlisted]

    def sources(self) -> Mapping[str, CapabilitySource]:
        """Give every source by name, the switched off ones included."""
        return self._sources

    def status(self, source: str) -> SourceStatus:
        """Say how a source stands, without loading or connecting it.

        Raises:
            SourceNotFound: there is no source of that name.
        """
        return self._source(source).status()

    async def capability(self, source: str, name: str, *, since: float | None = None) -> Capability:
        """Give one capability as the source offers it now; with `since`, as it was listed then or later.

        Raises:
            SourceNotFound: there is no source of that name.
            SourceUnavailable: the source cannot be asked.
            CapabilityNotFound: the source does not offer it; names close matches.
        """
        asked = self._source(source)
        offered = await (asked.capabilities() if since is None else offered_since(asked, since))
        if name not in offered:
            raise CapabilityNotFound(f"{source}.{name}", [capability.full_name for capability in offered.values()])
        return offered[name]

    async def find(self, full_name: str) -> Capability:
        """Give a capability by `source.capability`. Both may hold dots; the longest name of a source counts.

        Raises:
            SourceUnavailable: the source cannot be asked.
            CapabilityNotFound: there is no such source, or it does not offer it; names close matches.
        """
        sources = [name for name in self._sources if full_name.startswith(f"{name}.")]
        if sources:
            source = max(sources, key=len)
            return await self.capability(source, full_name.removeprefix(f"{source}."))
        offered, _ = await self.all_capabilities()
        raise CapabilityNotFound(full_name, [capability.full_name for capability in offered])

    async def all_capabilities(self, source: str | None = None) -> tuple[list[Capability], list[Diagnostic]]:
        """Give what all sources, or the one named, offer now, by source and name, and what there is to know about them.

        A source that cannot be used costs the others nothing: it is a diagnostic.

        Raises:
            SourceNotFound: there is no source of that name.
        """
        asked = [self._source(name) for name in (self.listed() if source is None else [source])]
        found: dict[str, list[Capability]] = {}

        async def ask(one: CapabilitySource) -> None:
            try:
                found[one.name] = sorted((await one.capabilities()).values(), key=lambda capability: capability.name)
            except SourceUnavailable:
                found[one.name] = []

        async with anyio.create_task_group() as tasks:
            for one in asked:
                tasks.start_soon(ask, one)
        offered = [capability for one in asked for capability in found[one.name]]
        return offered, [diagnostic for one in asked for diagnostic in one.status().diagnostics]

    def _source(self, name: str) -> CapabilitySource:
        if name not in self._sources:
            raise SourceNotFound(name, self._sources)
        return self._sources[name]


@asynccontextmanager
async def _connection_tasks() -> AsyncGenerator[TaskGroup, None]:
    """Give the tasks that own connections. They keep their failures to themselves: what is raised is the caller's."""
    try:
        async with anyio.create_task_group() as tasks:
            yield tasks
            tasks.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        raise group.exceptions[0] from None


async def _close(sources: Iterable[CapabilitySource]) -> None:
    """Close all at once, also when the caller is cancelled: processes must not be left behind."""
    with anyio.CancelScope(shield=True):
        async with anyio.create_task_group() as tasks:
            for source in sources:
                tasks.start_soon(source.close)
