"""What `sessions` measures: a server that is running, with a model behind HTTP on this machine.

As a program, `session_work.py URL` is a worker outside: it reads tokens from stdin, and delivers to each over MCP.
"""

import json
import os
import re
import socket
import sys
import time
from asyncio import IncompleteReadError, StreamReader, StreamWriter, start_server
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from mcp import Client

ERA = "2026-07-28"
AGENT = "asker"
_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


class LoopbackModel:
    """Asks for as many calls as the prompt says, `7 calls, number 3`, then answers. It notes when it is asked again."""

    def __init__(self) -> None:
        self.url = ""
        self.asked: dict[str, float] = {}
        """When a prompt came with results, in seconds of `time.monotonic`."""
        self.heard: dict[str, anyio.Event] = {}

    @asynccontextmanager
    async def serving(self) -> AsyncGenerator[None]:
        """Answer for as long as the block."""
        server = await start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        try:
            yield
        finally:
            server.close()

    async def answered(self, prompt: str) -> float:
        """Wait until it is asked again for a prompt, and give when it was."""
        await self.heard.setdefault(prompt, anyio.Event()).wait()
        return self.asked[prompt]

    async def _serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                now = time.monotonic()
                length = _LENGTH.search(head)
                body = json.loads(await reader.readexactly(int(length[1]) if length else 0))
                writer.write(_HEAD + b"".join(self._answer(body["messages"], now)) + b"0\r\n\r\n")
                await writer.drain()
        except (IncompleteReadError, ConnectionResetError):
            writer.close()

    def _answer(self, messages: list[dict[str, Any]], now: float) -> list[bytes]:
        prompt = next(message["content"] for message in messages if message["role"] == "user")
        if messages[-1]["role"] == "tool":
            self.asked.setdefault(prompt, now)
            self.heard.setdefault(prompt, anyio.Event()).set()
            return [_part({"role": "assistant", "content": "Done."}), _part({}, "stop"), _chunk(b"data: [DONE]\n\n")]
        calls = [
            {"index": number, "id": f"c{number}", "type": "function", "function": {"name": "now", "arguments": "{}"}}
            for number in range(int(prompt.split()[0]))
        ]
        return [_part({"role": "assistant", "tool_calls": calls}), _part({}, "tool_calls"), _chunk(b"data: [DONE]\n\n")]


def _part(delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    body = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "fake", "choices": [choice]}
    return _chunk(b"data: " + json.dumps(body).encode() + b"\n\n")


def _chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


@asynccontextmanager
async def server(folder: Path, model: LoopbackModel) -> AsyncGenerator[str]:
    """Start `wf-mcp --http` over a folder with one agent, whose calls are all put off; give its URL."""
    agent = {
        "slug": AGENT,
        "model": "openai:loopback",
        "tools": ["wf.std.now"],
        "toolCallPolicyConfig": {"default": {"tag": "defer", "reason": "external worker"}},
    }
    (folder / "asker.agent.json").write_text(json.dumps(agent))
    (folder / "wf.json").write_text(json.dumps({"agents": {AGENT: {"file": "asker.agent.json"}}}))
    with socket.create_server(("127.0.0.1", 0)) as reserved:
        port: int = reserved.getsockname()[1]
    command = [sys.executable, "-m", "wf_mcp", "--home", str(folder / "home"), "--http", f"127.0.0.1:{port}"]
    environment = {**os.environ, "OPENAI_BASE_URL": model.url, "OPENAI_API_KEY": "none"}
    async with await anyio.open_process(command, cwd=folder, env=environment, stderr=None) as process:
        with anyio.fail_after(30):
            while not _listens(port):  # noqa: ASYNC110  # it sends no event
                await anyio.sleep(0.02)
        try:
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            process.terminate()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool that has to succeed."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.structured_content
    assert result.structured_content is not None
    return result.structured_content


async def wait_for(client: Client, prompt: str) -> list[str]:
    """Let a session come to wait for the calls of its prompt; give their tokens."""
    session_id = (await call(client, "start_session", agent=AGENT, prompt=prompt))["session_id"]
    told = await call(client, "resume_session", session_id=session_id, wait_seconds=45)
    return [waiting["token"] for waiting in told["pending_calls"]]


async def deliver(url: str) -> None:
    """Deliver as a worker outside does."""
    tokens = sys.stdin.read().split()
    async with Client(url, mode=ERA) as client:
        for token in tokens:
            await call(client, "complete_call", token=token, result="there")


if __name__ == "__main__":
    anyio.run(deliver, sys.argv[1])
