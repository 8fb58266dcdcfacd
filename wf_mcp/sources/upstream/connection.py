"""The connection to one upstream server: made when needed, made anew when lost.

A connection is entered and left by one task of its own, because the SDK's clients must be left by the task that
entered them; calls run in the tasks of their callers. A connection counts as made when the server has listed its
tools, so whatever fails before that has certainly not executed a call.
"""

import logging
import math
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path

import anyio
from anyio.abc import TaskGroup, TaskStatus
from mcp import Client
from mcp.client import ClientSession, IncomingMessage
from mcp.client._transport import TransportStreams
from mcp.types import CallToolResult, DiscoverResult, Tool, ToolListChangedNotification

from wf_mcp.config import McpServer, Redactor
from wf_mcp.errors import first_error
from wf_mcp.sources.boundary import presentable
from wf_mcp.sources.errors import SourceUnavailable
from wf_mcp.sources.upstream.faults import EndlessListing, why_not_connected
from wf_mcp.sources.upstream.http import http_transport
from wf_mcp.sources.upstream.listings import tool_by_tool
from wf_mcp.sources.upstream.stdio import Process, stdio_transport

CLOSE_SECONDS = 3.0
"""How long a server may take to agree to the end of a connection."""
LISTING_SECONDS = 30.0
"""How long a listing of tools is believed where nobody asks for a new one: a server that restarted behind its URL says
nothing."""
MOST_PAGES = 1000

_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.25, 5.0

logger = logging.getLogger(__name__)


class Connection:
    """A client that is connected, and the tools that its server listed."""

    def __init__(self, over: anyio.Event) -> None:
        self.client: Client
        self.version: str | None = None
        """Of the protocol; None until it is settled."""
        self.tools: tuple[Tool, ...] = ()
        self.over = over
        """Set, by whoever notices first, when the connection is of no more use."""
        self.gone = anyio.Event()
        """Set when everything of the connection has been let go of."""
        self._listed_at = -math.inf
        """When the listing was asked for."""
        self._changed_at = -math.inf
        """When the server last said that its tools have changed."""
        self._listing = anyio.Lock()

    def is_believed(self, since: float | None = None) -> bool:
        """Tell whether the listing of tools still holds: it is none from before `since`, and not old."""
        oldest = anyio.current_time() - LISTING_SECONDS if since is None else since
        return self._listed_at >= max(oldest, self._changed_at)

    async def list_tools(self, since: float | None = None) -> None:
        """Ask for the tools, page by page. Who asks while they are being asked for shares what comes, if that will do.

        Raises:
            EndlessListing: there is always one page more. And whatever the SDK raises.
        """
        async with self._listing:
            if self.is_believed(since):
                return
            listed_at = anyio.current_time()
            tools: list[Tool] = []
            cursor: str | None = None
            for _ in range(MOST_PAGES):
                page = await self.client.list_tools(cursor=cursor, cache_mode="refresh")
                tools += page.tools
                cursor = page.next_cursor
                if cursor is None:
                    self.tools, self._listed_at = tuple(tools), listed_at
                    return
            raise EndlessListing(f"it lists its tools without end ({MOST_PAGES} pages)")

    async def on_message(self, message: IncomingMessage) -> None:
        """Take notice that the server's tools have changed."""
        if isinstance(message, ToolListChangedNotification):
            self._changed_at = anyio.current_time()


@dataclass(frozen=True, slots=True)
class _Era:
    """How the server was last spoken to, so that the next connection need not find out."""

    mode: str = "auto"
    discovered: DiscoverResult | None = None


class Connector:
    """Keeps at most one connection to its server."""

    def __init__(
        self, name: str, server: McpServer, folder: Path, redactor: Redactor, tasks: TaskGroup, connect_seconds: float
    ) -> None:
        self._name = name
        self._server = server
        self._folder = folder
        self._redactor = redactor
        self._tasks = tasks
        self._connect_seconds = connect_seconds
        self._lock = anyio.Lock()
        self._current: Connection | None = None
        self._era = _Era()
        self._failures = 0
        self._failed_at = 0.0

    @property
    def era(self) -> str:
        """How the next connection speaks: `auto` to find out, `legacy`, or a modern version of the protocol."""
        return self._era.mode

    @property
    def is_connected(self) -> bool:
        return self._current is not None and not self._current.over.is_set()

    async def connection(self) -> Connection:
        """Give the connection, making one if there is none; after failures, not before a growing pause is over.

        Raises:
            SourceUnavailable: none came about; the message says what happened.
        """
        async with self._lock:
            if self._current is not None and not self._current.over.is_set():
                return self._current
            if self._failures:
                pause = min(_FIRST_PAUSE_SECONDS * 2 ** (self._failures - 1), _LONGEST_PAUSE_SECONDS)
                await anyio.sleep_until(self._failed_at + pause)
            try:
                made: Connection = await self._tasks.start(self._own)
            except SourceUnavailable:
                self._failures, self._failed_at, self._era = self._failures + 1, anyio.current_time(), _Era()
                raise
            self._current, self._failures = made, 0
            return made

    async def close(self) -> None:
        """End the connection, within a few seconds."""
        if self._current is not None:
            self._current.over.set()
            await self._current.gone.wait()

    async def _own(self, *, task_status: TaskStatus[Connection]) -> None:
        process = Process(self._name, self._redactor)
        connection = Connection(process.over)
        is_made = False
        limit = anyio.CancelScope(deadline=anyio.current_time() + self._connect_seconds)
        try:
            with limit:
                async with self._client(process, connection) as connection.client:
                    connection.version = connection.client.session.protocol_version
                    _leave_results_to_us(connection.client.session)
                    await connection.list_tools()
                    self._era = _era_of(connection.client)
                    limit.deadline, is_made = math.inf, True
                    task_status.started(connection)
                    await connection.over.wait()
                    limit.deadline = anyio.current_time() + CLOSE_SECONDS
        except Exception as exc:
            error = first_error(exc)
            if not is_made:
                raise await self._not_connected(why_not_connected(error, self._redactor), process) from exc
            logger.info("The connection to %s ended: %s", self._name, type(error).__name__)
        finally:
            connection.over.set()
            connection.gone.set()
        if not is_made:
            raise await self._not_connected(f"it did not answer within {self._connect_seconds:g} seconds", process)

    def _client(self, process: Process, connection: Connection) -> Client:
        transport: AbstractAsyncContextManager[TransportStreams]
        if self._server.url is None:
            transport = stdio_transport(self._server, self._folder, process)
        else:
            transport = http_transport(self._server.url, self._server.headers)
        return Client(
            tool_by_tool(transport, lambda: connection.version),
            mode=self._era.mode,
            prior_discover=self._era.discovered,
            message_handler=connection.on_message,
        )

    async def _not_connected(self, reason: str, process: Process) -> SourceUnavailable:
        if process.fault is not None:
            reason = process.fault
        elif process.noise:
            reason += f", and it writes to stdout what is no MCP ({process.noise} lines)"
        if words := await process.last_words():
            reason += f". Its last words: {presentable(words, self._redactor).removesuffix('.')}"
        return SourceUnavailable(
            self._name, f"The source {self._name} cannot be reached: {reason}.", hint="The next use tries again."
        )


def _leave_results_to_us(session: ClientSession) -> None:
    """Keep the SDK from judging results: its engine backtracks, and recurses as deep as a server's schema says."""

    async def leave(name: str, result: CallToolResult) -> None: ...

    session.validate_tool_result = leave


def _era_of(client: Client) -> _Era:
    if client.session.discover_result is None:
        return _Era("legacy")
    return _Era(client.protocol_version, client.session.discover_result)
