"""The source `agents`: each agent that wf.json names is a capability. A call is a session of its own.

The session's id follows from the call, so a call that is made again attaches to the same session. While it waits, so
does the call.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from wf_artifacts.errors import SessionBusy, SessionNotFound
from wf_artifacts.sources.models import Capability, contract_digest
from wf_artifacts.stores import Stores
from wf_core.calls.capability import CallContext
from wf_core.calls.contract import ERROR_OUTCOME, Contract, Hints
from wf_core.errors import WfError
from wf_core.ids import SessionId, derived_session_id, is_session_id
from wf_core.jsonvalue import JsonValue
from wf_core.sessions import Parent
from wf_mcp.config import Config
from wf_mcp.config.agents import configured_file, find_agent
from wf_mcp.execution.agents import pin_agent
from wf_mcp.execution.callees.family import AGENTS, owner_of, require_shallow
from wf_mcp.execution.callees.policies import policies_around
from wf_mcp.execution.sessions.driver import SessionDriver
from wf_mcp.execution.sessions.errors import SessionBlocked
from wf_mcp.execution.sessions.views import SessionView
from wf_mcp.sources.protocol import (
    CallDeferred,
    CalleeGone,
    CallFailed,
    CallResult,
    CapabilityNotFound,
    Diagnostic,
    SourceKind,
    SourceStatus,
)
from wf_mcp.sources.registry import SourceRegistry

MOST_NAMED = 3
"""Calls that the reason of a wait names."""

_INPUT: dict[str, Any] = {
    "type": "object",
    "properties": {"prompt": {"type": "string", "minLength": 1, "description": "What the agent is to do."}},
    "required": ["prompt"],
    "additionalProperties": False,
}
_OUTPUT: dict[str, Any] = {
    "type": "object",
    "properties": {"answer": {"type": "string"}, "session_id": {"type": "string"}},
    "required": ["answer", "session_id"],
}
_CONTRACT = Contract(_INPUT, _OUTPUT, ("ok", ERROR_OUTCOME), Hints(idempotent=True))


class AgentsSource:
    """Offers the agents of wf.json."""

    name = AGENTS
    kind: SourceKind = "agents"
    enabled = True

    def __init__(self, config: Config, registry: SourceRegistry, stores: Stores, sessions: SessionDriver) -> None:
        self._config = config
        self._registry = registry
        self._stores = stores
        self._sessions = sessions
        self._wrong: dict[str, WfError] = {}
        """Why agents cannot be used, by slug."""

    async def capabilities(self) -> Mapping[str, Capability]:
        offered: dict[str, Capability] = {}
        self._wrong.clear()
        for slug in self._config.agents:
            try:
                agent = find_agent(configured_file(self._config, slug), slug)
            except WfError as error:
                self._wrong[slug] = error
                continue
            offered[slug] = Capability(AGENTS, slug, "", agent.description, _CONTRACT, contract_digest(_CONTRACT))
        return MappingProxyType(offered)

    async def call(self, capability: str, input: Mapping[str, JsonValue], context: CallContext) -> CallResult:
        prompt = input.get("prompt")
        if not isinstance(prompt, str):
            raise CallFailed("input_invalid", "`prompt` is no text.", executed=False)
        session_id = derived_session_id(context.run_id, context.idempotency_key, self._sessions.means.clock.now())
        asked = self._sessions.is_asked_for(context.run_id)
        try:
            record = await self._stores.sessions.load_record(session_id)
        except SessionNotFound:
            if context.put_off:
                raise CalleeGone(f"the session {session_id} of {AGENTS}.{capability}") from None
            await self._create(session_id, capability, prompt, context)
            asked = True  # what has just begun was paused by nobody
        else:
            if record.status in {"answered", "failed"}:
                return answer(await self._sessions.view(session_id))
            if not (record.auto or asked):
                raise CallDeferred(f"the session {session_id} is paused")
        try:
            await self._sessions.wait(await self._sessions.resume(session_id, asked=asked))
        except (SessionBusy, SessionBlocked) as error:
            raise CallDeferred(f"the session {session_id}: {error.message}") from error
        except WfError as error:
            raise CallFailed(error.code, error.message, executed=True, hint=error.hint) from error
        return answer(await self._sessions.view(session_id))

    def status(self) -> SourceStatus:
        wrong = [
            Diagnostic("warning", error.code, f"{slug}: {error.message}", error.hint)
            for slug, error in self._wrong.items()
        ]
        return SourceStatus(AGENTS, self.kind, True, "ready", len(self._config.agents) - len(wrong), tuple(wrong))

    async def close(self) -> None:
        pass

    async def _create(self, session_id: SessionId, slug: str, prompt: str, context: CallContext) -> None:
        owner = await owner_of(self._stores, context.run_id)
        await require_shallow(self._stores, context, owner)
        if slug not in self._config.agents:
            known = [f"{AGENTS}.{name}" for name in self._config.agents]
            raise CallFailed.before(CapabilityNotFound(f"{AGENTS}.{slug}", known))
        try:
            agent = find_agent(configured_file(self._config, slug), slug)
            pinned = await pin_agent(self._registry, agent, origin={"config": slug})
        except WfError as error:
            raise CallFailed.before(error) from error
        if pinned.snapshot is None:
            told = "; ".join(issue.message for issue in pinned.issues)
            raise CallFailed("agent_unrunnable", f"The agent {slug} cannot be used: {told}", executed=False)
        kind = "session" if is_session_id(context.run_id) else "run"
        parent = None if context.token is None else Parent(kind, context.run_id, context.token)
        try:
            await self._sessions.create(
                pinned.snapshot,
                prompt,
                principal=owner.principal,
                parent=parent,
                callers=await policies_around(self._stores, context.run_id),
                auto=owner.auto,
                session_id=session_id,
            )
        except WfError as error:
            raise CallFailed.before(error) from error


def answer(view: SessionView) -> CallResult:
    """Give what a session at rest says to whoever called it.

    Raises:
        CallDeferred: it waits.
        CallFailed: its model did not answer; a repeated call asks it again.
    """
    record = view.record
    error = record.error
    match record.status:
        case "answered":
            return CallResult("ok", {"answer": record.answer or "", "session_id": record.session_id})
        case "failed":
            told = "It failed." if error is None else f"{error['code']}: {error['message']}"
            return CallResult(ERROR_OUTCOME, {"message": told, "session_id": record.session_id})
        case "ready" if error is not None:
            text = f"The model of the session {record.session_id} did not answer: {error['message']}"
            raise CallFailed(error["code"], text, executed=True, details={"session_id": record.session_id})
        case _:
            waiting = [call.name for call in view.pending]
            names = ", ".join(waiting[:MOST_NAMED]) + (" …" if len(waiting) > MOST_NAMED else "")
            raise CallDeferred(f"the session {record.session_id} waits" + (f" for {names}" if names else ""))
