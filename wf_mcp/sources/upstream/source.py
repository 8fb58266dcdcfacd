"""The source that an upstream MCP server is.

Connecting, and with it everything of the MCP SDK, waits until the source is first used.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from anyio.abc import TaskGroup

from wf_artifacts.sources.models import Capability
from wf_core.calls.capability import CallContext
from wf_core.jsonvalue import JsonValue
from wf_mcp.config import McpServer, Redactor
from wf_mcp.sources.errors import CallFailed, SourceUnavailable
from wf_mcp.sources.protocol import CallResult, Diagnostic, SourceKind, SourceState, SourceStatus
from wf_mcp.sources.settings import resolve

if TYPE_CHECKING:
    from wf_mcp.sources.upstream.client import UpstreamClient


class UpstreamSource:
    """The tools of one MCP server."""

    kind: SourceKind = "mcp"

    def __init__(
        self,
        name: str,
        record: McpServer,
        folder: Path,
        redactor: Redactor,
        environ: Mapping[str, str],
        tasks: TaskGroup,
        connect_seconds: float,
    ) -> None:
        self.name = name
        self.enabled = record.enabled
        self._record = record
        self._folder = folder
        self._redactor = redactor
        self._environ = environ
        self._tasks = tasks
        self._connect_seconds = connect_seconds
        self._client: UpstreamClient | None = None

    async def capabilities(self) -> Mapping[str, Capability]:
        return await self._started().capabilities()

    async def capabilities_since(self, moment: float) -> Mapping[str, Capability]:
        return await self._started().capabilities(moment)

    async def call(self, capability: str, input: Mapping[str, JsonValue], context: CallContext) -> CallResult:  # noqa: ARG002  # tools take no context
        try:
            client = self._started()
        except SourceUnavailable as exc:
            raise CallFailed.before(exc) from exc
        return await client.call(capability, input)

    def status(self) -> SourceStatus:
        state: SourceState = "idle"
        count: int | None = None
        diagnostics: tuple[Diagnostic, ...] = ()
        if self._client is not None:
            state, count, diagnostics = self._client.state, self._client.tool_count, self._client.diagnostics
        try:
            resolve(self.name, self._record, self._environ)
        except SourceUnavailable as exc:
            state, diagnostics = "unavailable" if self.enabled else "disabled", (Diagnostic.of(exc),)
        return SourceStatus(self.name, self.kind, self.enabled, state, count, diagnostics)

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()

    def _started(self) -> UpstreamClient:
        record = resolve(self.name, self._record, self._environ)
        if self._client is None:
            # Not at the top: the SDK takes longer to import than everything else, and not every start needs it.
            from wf_mcp.sources.upstream.client import UpstreamClient  # noqa: PLC0415

            self._client = UpstreamClient(
                self.name, record, self._folder, self._redactor, self._tasks, self._connect_seconds
            )
        return self._client
