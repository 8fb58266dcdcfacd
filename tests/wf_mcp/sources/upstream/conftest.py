"""Upstream servers in processes of their own."""

import socket
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from wf_mcp.config import McpServer, Redactor
from wf_mcp.sources.upstream import UpstreamSource

HERE = Path(__file__).parent

Open = Callable[..., AbstractAsyncContextManager[UpstreamSource]]


def raw_server(*modes: str, **settings: Any) -> McpServer:
    """Give the configuration of a server that needs no SDK."""
    return McpServer(command=sys.executable, args=[str(HERE / "raw.py"), *modes], **settings)


def sdk_server(*arguments: str) -> McpServer:
    """Give the configuration of a server made with the SDK."""
    return McpServer(command=sys.executable, args=[str(HERE / "server.py"), *arguments])


@pytest.fixture
def open_source(tmp_path: Path, redactor: Redactor) -> Open:
    """Give a function that opens a server as the source `up`."""

    @asynccontextmanager
    async def open_source(
        server: McpServer, *, connect_seconds: float = 30, **environ: str
    ) -> AsyncGenerator[UpstreamSource, None]:
        with anyio.fail_after(60):
            async with anyio.create_task_group() as tasks:
                source = UpstreamSource("up", server, tmp_path, redactor, environ, tasks, connect_seconds)
                try:
                    yield source
                finally:
                    await source.close()
                    tasks.cancel_scope.cancel()

    return open_source


class HttpServer:
    """A server behind a socket that listens all the time, so that nobody has to wait until it does."""

    def __init__(self) -> None:
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}/mcp"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, *arguments: str) -> None:
        self.kill()
        fd = self.socket.fileno()
        command = [sys.executable, str(HERE / "server.py"), "--http", str(fd), *arguments]
        self._process = subprocess.Popen(command, pass_fds=[fd])

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def close(self) -> None:
        self.kill()
        self.socket.close()


@pytest.fixture
def http_server() -> Iterator[HttpServer]:
    server = HttpServer()
    yield server
    server.close()
