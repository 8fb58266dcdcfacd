"""Sessions of a scripted model whose tools are functions of the test."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from wf_artifacts.calls.models import Delivery
from wf_artifacts.sources.models import contract_digest
from wf_core.calls.contract import Contract, Hints
from wf_core.calls.results import as_text
from wf_core.ids import SessionId
from wf_core.jsonvalue import JsonValue
from wf_core.sessions import AgentSnapshot, ToolDefinition, UserTurn
from wf_mcp.app import App
from wf_mcp.execution.sessions.views import SessionView

ME = "local"

READING = Hints(read_only=True, idempotent=True, destructive=False)


def tool(name: str, *, source: str = "ops", hints: Hints | None = None) -> ToolDefinition:
    """Pin a capability of the scripted source."""
    contract = Contract(hints=hints or Hints())
    return ToolDefinition(
        name=name,
        capability=f"{source}.{name}",
        source=source,
        description="",
        input_schema={},
        output_schema={},
        outcomes=("ok",),
        digest=contract_digest(contract),
        read_only=contract.hints.read_only,
        idempotent=contract.hints.idempotent,
    )


def calling(*calls: str | tuple[str, dict[str, Any]], text: str = "") -> dict[str, Any]:
    """Make an answer of the model that asks for calls: `name`, or `(name, arguments)`."""
    named: list[tuple[str, dict[str, Any]]] = [(call, {}) if isinstance(call, str) else call for call in calls]
    return {"text": text, "toolCalls": [{"name": name, "arguments": arguments} for name, arguments in named]}


def saying(text: str) -> dict[str, Any]:
    return {"text": text}


def agent(
    folder: Path,
    answers: Sequence[dict[str, Any]],
    *tools: str | ToolDefinition,
    rules: dict[str, Any] | None = None,
    **fields: Any,
) -> AgentSnapshot:
    """Make an agent whose model plays these answers. `rules` maps tools to dispositions as data."""
    script = folder / "answers.json"
    folder.mkdir(parents=True, exist_ok=True)
    script.write_text(json.dumps({"answers": list(answers)}))
    policy: dict[str, JsonValue] = {
        "rules": [{"tool": name, "disposition": disposition} for name, disposition in (rules or {}).items()]
    }
    told: dict[str, Any] = {
        "slug": "helper",
        "description": "",
        "system_prompt": "Help.",
        "model": f"scripted:{script.name}",
        "tools": tuple(tool(one) if isinstance(one, str) else one for one in tools),
        "policy": policy,
        "origin": {"folder": str(folder)},
    }
    return AgentSnapshot(**{**told, **fields})


async def started(app: App, snapshot: AgentSnapshot, query: str = "Go.", *, auto: bool = False) -> SessionId:
    """Create a session."""
    return (await app.sessions.create(snapshot, query, principal=ME, auto=auto)).session_id


async def resumed(app: App, session_id: SessionId, **wish: Any) -> SessionView:
    """Resume a session, and show it where it rests."""
    await app.sessions.wait(await app.sessions.resume(session_id, **wish))
    return await app.sessions.view(session_id)


async def stepped(app: App, session_id: SessionId) -> SessionView:
    await app.sessions.wait(await app.sessions.step(session_id))
    return await app.sessions.view(session_id)


async def isolated(app: App, session_id: SessionId) -> SessionView:
    await app.sessions.wait(await app.sessions.run_isolated(session_id))
    return await app.sessions.view(session_id)


async def delivered(app: App, token: str, result: JsonValue = None, *, kind: Any = "result", **how: Any) -> str:
    """Deliver to a call as somebody outside."""
    delivery = result_of(result, kind=kind, at=app.clock.now())
    return await app.sessions.deliver(token, delivery, principal=ME, **how)


def result_of(result: JsonValue, *, kind: Any = "result", at: datetime | None = None) -> Delivery:
    moment = at or datetime(2026, 11, 30, tzinfo=UTC)
    return Delivery(kind=kind, result=result, channel="test", principal=ME, delivered_at=moment)


def told(view: SessionView, turn: int = -2) -> list[str]:
    """Say what the model was given in a turn: its results in call order, then its notices."""
    given = view.session.turns[turn]
    assert isinstance(given, UserTurn)
    results = [f"{one.name}: {as_text(one.result)}" for one in given.results]
    return results + [f"notice {one.name}: {as_text(one.result)}" for one in given.notices]


def tokens(view: SessionView) -> dict[str, str]:
    """Give the tokens of the calls that wait, by the tools' names."""
    return {call.name: call.token for call in view.pending}
