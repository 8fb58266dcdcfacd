"""A function behind HTTP on loopback, which answers, or not, as its path says."""

import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Functions:
    """The server, and what it was asked."""

    server: ThreadingHTTPServer
    asked: list[tuple[str, dict[str, str], Any]] = field(default_factory=list[tuple[str, dict[str, str], Any]])
    let_go: threading.Event = field(default_factory=threading.Event)

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/{path}"


@contextmanager
def serving() -> Generator[Functions]:
    """Serve until the end of the block."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            headers = {name.lower(): value for name, value in self.headers.items()}
            functions.asked.append((self.path, headers, body))
            answer_as(self, self.path.lstrip("/"), body["token"], functions)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    functions = Functions(server)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield functions
    finally:
        functions.let_go.set()
        server.shutdown()
        thread.join()
        server.server_close()


def answer_as(handler: BaseHTTPRequestHandler, how: str, token: str, functions: Functions) -> None:
    """Answer one request."""
    answer = json.dumps({"token": token, "status": "success", "result": {"type": "json", "content": {"how": how}}})
    status, extra, body = 200, {}, answer.encode()
    match how.split("/"):
        case ["status", number]:
            status, body = int(number), b"because of hush-hush-1"
        case ["elsewhere"]:
            status, extra, body = 307, {"location": functions.url("ok")}, b""
        case ["other-token"]:
            body = answer.replace(token, "call_other").encode()
        case ["huge"]:
            body = b"x" * 50_000_000
        case ["empty"]:
            body = b""
        case ["silent"]:
            functions.let_go.wait()
            return
        case ["cut"]:
            handler.send_response(200)
            handler.send_header("content-length", "1000")
            handler.end_headers()
            handler.wfile.write(b"{")
            return
        case _:
            pass
    handler.send_response(status)
    for name, value in {**extra, "content-length": str(len(body))}.items():
        handler.send_header(name, value)
    handler.end_headers()
    try:
        handler.wfile.write(body)
    except OSError:
        return
