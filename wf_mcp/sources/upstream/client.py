"""What is done over the connection to an upstream server: asking what it offers, and calling it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import anyio
from anyio.abc import TaskGroup
from mcp.types import Tool

from wf_artifacts.sources.models import Capability
from wf_core.jsonvalue import JsonValue, clone
from wf_mcp.config import McpServer, Redactor
from wf_mcp.errors import first_error
from wf_mcp.sources.errors import CallFailed, CapabilityNotFound, SourceUnavailable
from wf_mcp.sources.protocol import CallResult, Diagnostic, SourceState
from wf_mcp.sources.upstream.connection import Connection, Connector
from wf_mcp.sources.upstream.faults import failed_call, is_lost, is_session_gone, why_not_connected
from wf_mcp.sources.upstream.tools import read_result, read_tools


class UpstreamClient:
    """One upstream server as it is known by now."""

    def __init__(
        self, name: str, server: McpServer, folder: Path, redactor: Redactor, tasks: TaskGroup, connect_seconds: float
    ) -> None:
        self._name = name
        self._server = server
        self._redactor = redactor
        self._connect_seconds = connect_seconds
        self._connector = Connector(name, server, folder, redactor, tasks, connect_seconds)
        self._read_from: tuple[Tool, ...] | None = None
        self._offered: dict[str, Capability] = {}
        self._findings: list[Diagnostic] = []
        self._failure: SourceUnavailable | None = None

    @property
    def state(self) -> SourceState:
        if self._failure is not None:
            return "unavailable"
        return "ready" if self._connector.is_connected else "idle"

    @property
    def tool_count(self) -> int | None:
        return None if self._read_from is None else len(self._offered)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        return tuple(self._findings) if self._failure is None else (Diagnostic.of(self._failure),)

    async def capabilities(self, since: float | None = None) -> dict[str, Capability]:
        """Give what the server offers, asking it again when the last answer is old, or from before `since`.

        Raises:
            SourceUnavailable: there is no connection, or it does not list its tools.
        """
        connection = await self._connection()
        if not connection.is_believed(since):
            connection = await self._ask_again(connection, since)
        return self._read(connection)

    async def call(self, tool: str, input: Mapping[str, JsonValue]) -> CallResult:
        """Call a tool, over a new connection where the last one is lost.

        Raises:
            CallFailed: there is no result.
        """
        full_name = f"{self._name}.{tool}"
        is_second_try = False
        while True:
            connection, capability = await self._ready(tool)
            try:
                result = await connection.client.call_tool(tool, cast("dict[str, Any]", clone(dict(input))))
            except Exception as exc:
                error = first_error(exc)
                if is_lost(error):
                    connection.over.set()
                if is_second_try or not is_session_gone(error):
                    raise failed_call(full_name, error, self._redactor) from exc
                # The server restarted and has not looked at the call: in a new session it sees it for the first time.
                is_second_try = True
            else:
                is_structured = capability.contract.output_schema != {}
                return read_result(full_name, result, self._redactor, is_structured=is_structured)

    async def close(self) -> None:
        await self._connector.close()

    async def _ready(self, tool: str) -> tuple[Connection, Capability]:
        """Give a connection whose server offers `tool`, and what that is.

        Raises:
            CallFailed: there is none, or it does not; nothing was called.
        """
        try:
            connection = await self._connection()
            offered = self._read(connection)
            if tool not in offered:
                offered = await self.capabilities()
                if tool not in offered:
                    known = [capability.full_name for capability in offered.values()]
                    raise CapabilityNotFound(f"{self._name}.{tool}", known)
                connection = await self._connection()
        except (SourceUnavailable, CapabilityNotFound) as exc:
            raise CallFailed.before(exc) from exc
        return connection, offered[tool]

    async def _connection(self) -> Connection:
        try:
            connection = await self._connector.connection()
        except SourceUnavailable as exc:
            self._failure = exc
            raise
        self._failure = None
        return connection

    async def _ask_again(self, connection: Connection, since: float | None) -> Connection:
        try:
            with anyio.fail_after(self._connect_seconds):
                await connection.list_tools(since)
        except Exception as exc:
            error = first_error(exc)
            if is_lost(error):
                connection.over.set()
                return await self._connection()
            reason = why_not_connected(error, self._redactor)
            raise SourceUnavailable(self._name, f"The source {self._name} does not list its tools: {reason}.") from exc
        return connection

    def _read(self, connection: Connection) -> dict[str, Capability]:
        if connection.tools is not self._read_from:
            self._read_from = connection.tools
            self._offered, self._findings = read_tools(self._name, connection.tools, self._server.hints, self._redactor)
        return self._offered
