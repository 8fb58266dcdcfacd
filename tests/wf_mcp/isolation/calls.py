"""A call to isolate, who carries it out, and how to see that nothing is left of it."""

import os
import signal
import sys
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wf_core.calls.envelope import build_request
from wf_core.calls.policy import IsolationSpec, PolicyContext, RunIsolated, ToolCall
from wf_core.calls.results import ToolResult
from wf_core.jsonvalue import JsonValue, dumps
from wf_mcp.config import Redactor
from wf_mcp.isolation import DeploymentRunner, open_runner

TOKEN = "call_0123456789ABCDEFGHJKMNPQRS"
MISBEHAVING = Path(__file__).with_name("misbehaving.py")
MARK = "WF_TEST_MARK"


def request(name: str = "ops.word_count", arguments: Mapping[str, JsonValue] | None = None) -> bytes:
    """Make the envelope that a worker is given."""
    call = ToolCall(name, dict(arguments or {}))
    return dumps(build_request(TOKEN, call, PolicyContext(session_id="sess_1", turn_id="t1"), RunIsolated()))


async def execute(
    runner: DeploymentRunner,
    name: str = "ops.word_count",
    arguments: Mapping[str, JsonValue] | None = None,
    *,
    spec: IsolationSpec | None = None,
    timeout_seconds: float | None = None,
) -> ToolResult:
    """Carry one call out."""
    return await runner.execute(
        spec or IsolationSpec(), request(name, arguments), TOKEN, timeout_seconds=timeout_seconds
    )


@dataclass
class Marked:
    """A runner whose processes carry a mark in their environment, which their children inherit."""

    folder: Path
    settings: dict[str, Any] = field(default_factory=dict[str, Any])
    redactor: Redactor = field(default_factory=Redactor)
    mark: str = field(default_factory=lambda: uuid.uuid4().hex)

    def open(self, command: list[str], **settings: Any) -> DeploymentRunner:
        given = {**self.settings, **settings}
        env = {**given.pop("env", {}), MARK: self.mark}
        return open_runner({"command": list(command), "env": env, **given}, folder=self.folder, redactor=self.redactor)

    def misbehaving(self, how: str, **settings: Any) -> DeploymentRunner:
        return self.open([sys.executable, "-S", str(MISBEHAVING), how], **settings)

    def left(self) -> list[str]:
        """Name every process that carries the mark."""
        return [" ".join(arguments) for arguments in processes(f"{MARK}={self.mark}").values()]

    def wait_until_gone(self) -> None:
        while self.left():
            time.sleep(0.01)

    def kill_left(self) -> None:
        for process in processes(f"{MARK}={self.mark}"):
            os.kill(process, signal.SIGKILL)


def processes(entry: str) -> dict[int, list[str]]:
    """Give the arguments of every process with this entry in its environment, by process id."""
    found: dict[int, list[str]] = {}
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdecimal() and entry.encode() in (folder / "environ").read_bytes().split(b"\0"):
                found[int(folder.name)] = (folder / "cmdline").read_text(errors="replace").split("\0")
        except OSError:
            continue
    return found
