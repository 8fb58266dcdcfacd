"""An MCP server of the old era without the SDK: it starts at once, and misbehaves in ways that the SDK would not allow.

    python raw.py [MODE ...]

Modes: `silent` never answers, `noisy` writes what is no MCP first, `babble` does not stop to, `exit` ends at once,
`twice` lists without end, `grows` gets one more while it lists them first, `odd` has a tool that is none,
`schema=JSON` is the output schema of `judged`.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

MODES = sys.argv[1:]
SCHEMA: dict[str, Any] = next((json.loads(mode[7:]) for mode in MODES if mode.startswith("schema=")), dict[str, Any]())
TOOLS: list[dict[str, Any]] = [
    {
        "name": "echo",
        "title": "Echo",
        "description": "Give it back.",
        "inputSchema": {"type": "object", "properties": {"value": {}}, "required": ["value"]},
        "outputSchema": {"type": "object", "properties": {"value": {}}},
        "annotations": {"readOnlyHint": True},
    },
    {"name": "tell", "inputSchema": {"type": "object"}},
    {"name": "remote", "inputSchema": {"type": "object", "properties": {"x": {"$ref": "https://example.com/s"}}}},
    *({"name": name, "inputSchema": {"type": "object"}} for name in ("die", "hang", "fail", "raw", "grow", "write")),
    {"name": "promise", "inputSchema": {"type": "object"}, "outputSchema": {"type": "object"}},
    {"name": "judged", "inputSchema": {"type": "object"}, "outputSchema": {"type": "object", **SCHEMA}},
]
if "odd" in MODES:
    TOOLS.append({"name": "odd", "inputSchema": {"type": "string"}})

LATE: dict[str, Any] = {"name": "late", "inputSchema": {"type": "object"}}
ASKED: list[Any] = []
"""The requests for the tools."""


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def call(request: Any, name: str, given: dict[str, Any]) -> None:
    match name:
        case "promise":
            send({"id": request, "result": {"content": []}})
        case "echo" | "judged":
            send({"id": request, "result": {"content": [], "structuredContent": given}})
        case "tell":
            told = {"pid": os.getpid(), "cwd": str(Path.cwd()), "env": dict(os.environ), "asked": len(ASKED)}
            text = told[given["what"]]
            send({"id": request, "result": {"content": [{"type": "text", "text": str(text)}]}})
        case "write":
            sys.stdout.buffer.write(given["line"].replace("ID", str(request)).encode("latin-1") + b"\n")
            sys.stdout.buffer.flush()
        case "fail":
            send({"id": request, "error": given})
        case "raw":
            send({"id": request, "result": given})
        case "grow":
            TOOLS.append(LATE)
            if "silently" not in given:
                send({"method": "notifications/tools/list_changed"})
            send({"id": request, "result": {"content": []}})
        case "die":
            sys.exit("the end of sesame-street")
        case _:
            sys.stderr.write(f"{name} begins\n")
            sys.stderr.flush()


def answer(message: dict[str, Any]) -> None:
    request, parameters = message.get("id"), message.get("params", {})
    match message["method"]:
        case "initialize":
            result = {
                "protocolVersion": parameters["protocolVersion"],
                "capabilities": {"tools": {"listChanged": True}},
                "serverInfo": {"name": "raw", "version": "1"},
            }
            send({"id": request, "result": result})
        case "tools/list" if "cursor" in parameters:
            tools = TOOLS[3:]
            if "grows" in MODES and len(ASKED) == 1:
                TOOLS.append(LATE)
                send({"method": "notifications/tools/list_changed"})
            send({"id": request, "result": {"tools": tools, **({"nextCursor": "x"} if "twice" in MODES else {})}})
        case "tools/list":
            ASKED.append(request)
            send({"id": request, "result": {"tools": TOOLS[:3], "nextCursor": "x"}})
        case "tools/call":
            call(request, parameters["name"], parameters.get("arguments", {}))
        case "notifications/cancelled":
            sys.stderr.write("hang ends\n")
            sys.stderr.flush()
        case _ if request is not None:
            send({"id": request, "error": {"code": -32601, "message": "Method not found"}})
        case _:
            pass


if "exit" in MODES:
    sys.exit("no key sesame-street in /etc/passwd")
while "babble" in MODES:
    sys.stdout.write("Welcome!\n" * 100)
if "noisy" in MODES:
    sys.stdout.write("Welcome!\n")
    sys.stdout.flush()
for line in sys.stdin:
    if "silent" not in MODES:
        answer(json.loads(line))
