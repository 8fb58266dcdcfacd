"""What an operator has: a folder with a wf.json and a home, and the servers that run over it as real processes."""

import json
import os
import signal
import socket
import subprocess
import sys
import sysconfig
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import anyio
from mcp import Client, StdioServerParameters

Era = Literal["2025-11-25", "2026-07-28"]
"""The revision of MCP that a client speaks: with a handshake, or a request at a time."""

SCRIPTS = Path(sysconfig.get_path("scripts"))
WF_MCP = str(SCRIPTS / "wf-mcp")
CALL_SECONDS = 50

# The shell notes its own pid and becomes the server, so that a signal to that pid reaches the server itself.
_START = 'echo $$ > server.pid; exec "$0" "$@" 2>> server.log'


@dataclass
class Workplace:
    """A folder with everything in it that belongs to one operator."""

    folder: Path
    era: Era = "2026-07-28"
    environment: dict[str, str] = field(default_factory=dict[str, str])
    store: str | None = None
    """The URL of the store, where it is not the home."""

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def log(self) -> str:
        """What every server over this folder has said on stderr."""
        return (self.folder / "server.log").read_text(encoding="utf-8")

    def stored(self) -> dict[str, bytes]:
        """Read every file of the home but the locks and the index, which is made anew from the others."""
        files = (path.relative_to(self.home) for path in self.home.rglob("*") if path.is_file())
        return {
            str(path): (self.home / path).read_bytes()
            for path in files
            if path.parts[0] != "index" and "lock" not in path.name
        }

    async def until_at_rest(self) -> None:
        """Wait until no process writes any more: for half a second every stored byte has stayed as it was."""
        before: dict[str, bytes] | None = None
        since = anyio.current_time()
        with anyio.fail_after(20):
            while anyio.current_time() < since + 0.5:
                try:
                    now = self.stored()
                except FileNotFoundError:  # It went between listing and reading.
                    now = None
                if now is None or now != before:
                    before, since = now, anyio.current_time()
                await anyio.sleep(0.05)

    def configure(self, **sections: Any) -> None:
        """Write wf.json."""
        store = {} if self.store is None else {"store": self.store}
        self.write("wf.json", json.dumps({**store, **sections}))

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def python_source(self, name: str, text: str) -> None:
        """Make a module the only Python source."""
        self.write(f"{name}.py", text)
        self.configure(pythonSources={name: {"module": name, "path": "."}})

    def wf(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a command of `wf` to its end, without a terminal."""
        return subprocess.run(
            [SCRIPTS / "wf", *arguments],
            cwd=self.folder,
            env={**os.environ, "WF_HOME": str(self.home), **self.environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    @asynccontextmanager
    async def server(self, *command: str) -> AsyncGenerator["Server"]:
        """Start a server on stdio and connect to it; both end with the block."""
        parameters = StdioServerParameters(
            command="/bin/sh",
            args=["-c", _START, *(command or (WF_MCP,))],
            cwd=self.folder,
            env={"WF_HOME": str(self.home), **self.environment},
        )
        async with self.connect(parameters) as server:
            yield server

    @asynccontextmanager
    async def http_server(self) -> AsyncGenerator[str]:
        """Start a server on HTTP, to which any number of clients may connect; give its URL."""
        with socket.create_server(("127.0.0.1", 0)) as reserved:
            port: int = reserved.getsockname()[1]
        command = ["/bin/sh", "-c", _START, WF_MCP, "--http", f"127.0.0.1:{port}"]
        environment = {**os.environ, "WF_HOME": str(self.home), **self.environment}
        async with await anyio.open_process(command, cwd=self.folder, env=environment) as process:
            await until(lambda: _listens(port))
            yield f"http://127.0.0.1:{port}/mcp"
            process.terminate()

    @asynccontextmanager
    async def connect(self, target: StdioServerParameters | str) -> AsyncGenerator["Server"]:
        """Connect as a client of this era does."""
        mode = "legacy" if self.era == "2025-11-25" else self.era
        try:
            async with Client(target, mode=mode, read_timeout_seconds=CALL_SECONDS) as client:
                yield Server(self, client)
        except BaseExceptionGroup as group:
            failure = _alone(group)
            failure.add_note(self.log)
            raise failure from None


@dataclass
class Server:
    """A running server, seen through its client."""

    workplace: Workplace
    client: Client

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool that has to succeed; give its structured answer."""
        result = await self.client.call_tool(tool, arguments)
        assert result.structured_content is not None, result
        assert not result.is_error, result.structured_content
        return result.structured_content

    async def refuse(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool that has to refuse; give the error.

        Whatever was refused, no stored byte has changed, and neither a stack trace nor a path of the host is shown.
        """
        before = self.workplace.stored()
        result = await self.client.call_tool(tool, arguments)
        assert result.is_error, result.structured_content
        assert result.structured_content is not None, result
        assert self.workplace.stored() == before
        shown = json.dumps(result.model_dump(mode="json"))
        assert "Traceback" not in shown
        assert str(self.workplace.folder) not in shown
        assert sys.prefix not in shown
        error = result.structured_content["error"]
        assert set(error) == {"code", "message", "hint", "details"}
        return error

    async def deploy(self, plan: dict[str, Any]) -> str:
        """Save a plan and deploy it under its own name; give that name."""
        name = plan["name"]
        await self.call("save_artifact", artifact_id=name, plan=plan)
        deployment = await self.call("create_deployment", deployment_id=name, artifact_id=name)
        assert deployment["runnable"], deployment
        return name

    async def run(self, deployment_id: str, **workflow_input: Any) -> dict[str, Any]:
        """Start a run and wait until it stops."""
        return await self.call("run_deployment", deployment_id=deployment_id, workflow_input=workflow_input)

    def kill(self) -> None:
        """End the server that was started last as a power cut would."""
        self.signal(signal.SIGKILL)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the server that was started last."""
        os.kill(int((self.workplace.folder / "server.pid").read_text(encoding="utf-8")), number)


@contextmanager
def serving(workplace: Workplace) -> Generator[str]:
    """Let a server on HTTP stand for as long as the block; give its URL."""
    with socket.create_server(("127.0.0.1", 0)) as reserved:
        port: int = reserved.getsockname()[1]
    command = ["/bin/sh", "-c", _START, WF_MCP, "--http", f"127.0.0.1:{port}"]
    environment = {**os.environ, "WF_HOME": str(workplace.home), **workplace.environment}
    with subprocess.Popen(command, cwd=workplace.folder, env=environment) as process:
        try:
            anyio.run(until, lambda: _listens(port))
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            process.terminate()


async def until(happened: Callable[[], bool]) -> None:
    """Wait for what another process does, which sends no event: ask often, and give up after 20 s."""
    with anyio.fail_after(20):
        while not happened():  # noqa: ASYNC110
            await anyio.sleep(0.02)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _alone(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Take what failed out of the groups of the client's tasks, so that a story fails with its own words."""
    match group.exceptions:
        case (BaseExceptionGroup() as inner,):
            return _alone(inner)
        case (single,):
            return single
        case _:
            return group
