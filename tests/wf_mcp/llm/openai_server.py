"""A small OpenAI-compatible server on loopback, which plays what a test tells it, mishaps included."""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import anyio
from anyio.abc import SocketAttribute, SocketStream

Reply = Callable[[SocketStream], Awaitable[None]]


def _chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    body = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "fake", "choices": [choice]}
    return b"data: " + json.dumps(body).encode() + b"\n\n"


_USAGE: dict[str, Any] = {
    "id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "fake", "choices": [],
    "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
}  # fmt: skip
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"


async def _stream(client: SocketStream, parts: Iterable[bytes], *, ends: bool = True) -> None:
    await client.send(_HEAD)
    for part in parts:
        await client.send(f"{len(part):x}\r\n".encode() + part + b"\r\n")
    if ends:
        await client.send(b"0\r\n\r\n")


def says(text: str, *calls: tuple[str, str, str], finish: str | None = None, done: bool = True) -> Reply:
    """Answer word by word, then ask for calls `(id, name, arguments as text)`, each in pieces."""
    parts = [_chunk({"role": "assistant", "content": ""})]
    parts += [_chunk({"content": word}) for word in (text[:4], text[4:]) if word]
    for index, (call_id, name, arguments) in enumerate(calls):
        middle = len(arguments) // 2
        opening = {"index": index, "id": call_id, "type": "function", "function": {"name": name, "arguments": ""}}
        parts.append(_chunk({"tool_calls": [opening]}))
        for piece in (arguments[:middle], arguments[middle:]):
            parts.append(_chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}))
    if done:
        parts.append(_chunk({}, finish or ("tool_calls" if calls else "stop")))
        parts += [b"data: " + json.dumps(_USAGE).encode() + b"\n\n", b"data: [DONE]\n\n"]

    async def reply(client: SocketStream) -> None:
        await _stream(client, parts)

    return reply


def breaks(code: str) -> Reply:
    """Begin to answer, then say in the stream that something went wrong."""
    error = {"error": {"message": "went wrong", "type": code, "code": code}}
    parts = [_chunk({"role": "assistant", "content": "Half"}), b"data: " + json.dumps(error).encode() + b"\n\n"]

    async def reply(client: SocketStream) -> None:
        await _stream(client, parts)

    return reply


def responds(text: str, call: tuple[str, str, str], *, done: bool = True) -> Reply:
    """Answer with a text and a call, as the responses API does."""
    call_id, name, arguments = call
    message: dict[str, Any] = {"id": "m1", "type": "message", "role": "assistant", "status": "completed", "content": []}
    function = {
        "id": "f1",
        "type": "function_call",
        "call_id": call_id,
        "name": name,
        "arguments": "",
        "status": "completed",
    }
    response: dict[str, Any] = {
        "id": "r1", "object": "response", "created_at": 1, "model": "fake", "status": "in_progress", "output": [],
        "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
    }  # fmt: skip
    usage = {
        "input_tokens": 11, "output_tokens": 7, "total_tokens": 18, "input_tokens_details": {"cached_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    }  # fmt: skip
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": response},
        {"type": "response.output_item.added", "output_index": 0, "item": message},
        {"type": "response.output_text.delta", "item_id": "m1", "output_index": 0, "content_index": 0, "delta": text},
        {"type": "response.output_item.added", "output_index": 1, "item": function},
        {"type": "response.function_call_arguments.delta", "item_id": "f1", "output_index": 1, "delta": arguments},
        {"type": "response.output_item.done", "output_index": 1, "item": {**function, "arguments": arguments}},
    ]
    if done:
        events.append({"type": "response.completed", "response": {**response, "status": "completed", "usage": usage}})
    parts = [
        f"event: {event['type']}\ndata: {json.dumps({**event, 'sequence_number': number})}\n\n".encode()
        for number, event in enumerate(events)
    ]

    async def reply(client: SocketStream) -> None:
        await _stream(client, parts)

    return reply


def cut_after(text: str) -> Reply:
    """Begin to answer, then close the connection in the middle of it."""

    async def reply(client: SocketStream) -> None:
        await _stream(client, [_chunk({"role": "assistant", "content": text})], ends=False)

    return reply


def fails(status: int, message: str = "no", *, code: str | None = None, headers: str = "") -> Reply:
    """Answer with an error, as OpenAI writes it."""
    body = json.dumps({"error": {"message": message, "type": "error", "code": code}}).encode()
    head = f"HTTP/1.1 {status} No\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n{headers}\r\n"

    async def reply(client: SocketStream) -> None:
        await client.send(head.encode() + body)

    return reply


async def never(client: SocketStream) -> None:
    """Take the request and say nothing, until the client goes away."""
    with anyio.move_on_after(30), suppress(anyio.EndOfStream, anyio.BrokenResourceError):
        await client.receive()


@dataclass
class FakeServer:
    """Plays `replies` in order, one for each request."""

    replies: list[Reply]
    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    paths: list[str] = field(default_factory=list[str])
    keys: list[str] = field(default_factory=list[str])

    @property
    def told(self) -> list[dict[str, Any]]:
        """Give the messages of the last request."""
        return self.requests[-1]["messages"]

    async def serve(self, client: SocketStream) -> None:
        async with client:
            try:
                lines, headers, body = await _request(client)
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                return  # it gave up before it had asked
            self.paths.append(lines[0].split()[1])
            self.keys.append(headers.get("authorization", ""))
            self.requests.append(json.loads(body))
            await self.replies.pop(0)(client)


async def _request(client: SocketStream) -> tuple[list[str], dict[str, str], bytes]:
    """Read a request: its lines, its headers by lower-case names, and its body."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += await client.receive()
    head, _, body = data.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines[1:])}
    while len(body) < int(headers.get("content-length", 0)):
        body += await client.receive()
    return lines, headers, body


@asynccontextmanager
async def serving(replies: Sequence[Reply]) -> AsyncGenerator[FakeServer]:
    """Open a server for one test."""
    server = FakeServer(list(replies))
    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener, anyio.create_task_group() as tasks:
        server.url = f"http://127.0.0.1:{listener.extra(SocketAttribute.local_port)}/v1"
        tasks.start_soon(listener.serve, server.serve)
        yield server
        tasks.cancel_scope.cancel()
