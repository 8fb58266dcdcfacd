"""A client of this server in the same process, in either protocol era."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from mcp import Client

from wf_mcp.server.build import build_server

Era = Literal["2025-11-25", "2026-07-28"]

ASK: dict[str, Any] = {
    "name": "ask",
    "state_schema": {"type": "object", "properties": {"answer": {"type": "string"}}},
    "output_schema": {"type": "object", "properties": {"answer": {"type": "string"}}},
    "start": "note",
    "steps": {
        "note": {"type": "node", "use": "wf.std.constant", "input": {"value": {"value": 1}}, "routes": {"ok": "ask"}},
        "ask": {
            "type": "interrupt",
            "kind": "question",
            "request": {"question": {"value": "How are you?"}},
            "resume_schema": {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]},
            "resume": {"state.answer": "answer"},
            "routes": {"submitted": "__end__"},
        },
    },
}
"""A plan that does one step, asks, and ends with the answer."""


@dataclass
class Connected:
    """A connected client."""

    client: Client

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool that has to succeed."""
        result = await self.client.call_tool(tool, arguments)
        assert not result.is_error, result
        assert result.structured_content is not None
        return result.structured_content

    async def refuse(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool that has to refuse, and give the error."""
        result = await self.client.call_tool(tool, arguments)
        assert result.is_error, result
        assert result.structured_content is not None
        return result.structured_content["error"]

    async def deploy(self, plan: dict[str, Any]) -> str:
        """Save a plan and deploy it under its own name."""
        name = plan["name"]
        await self.call("save_artifact", artifact_id=name, plan=plan)
        await self.call("create_deployment", deployment_id=name, artifact_id=name)
        return name


@asynccontextmanager
async def connected(
    folder: Path, era: Era = "2026-07-28", *, config: dict[str, Any] | None = None
) -> AsyncGenerator[Connected]:
    """Serve a home in `folder`, and connect to it."""
    file = folder / "wf.json"
    file.write_text(json.dumps(config or {}), encoding="utf-8")
    server = build_server(home=folder / "home", config=file)
    async with Client(server, mode="legacy" if era == "2025-11-25" else "auto") as client:
        yield Connected(client)
