"""Who called whom: the session or run that a call belongs to, whose it is, and how deep it is nested."""

from dataclasses import dataclass

from wf_artifacts.errors import RunNotFound, SessionNotFound
from wf_artifacts.sessions.models import SessionRecord
from wf_artifacts.stores import Stores
from wf_core.calls.capability import CallContext, idempotency_key
from wf_core.ids import RunId, SessionId, derived_session_id, is_run_id, is_session_id
from wf_mcp.sources.protocol import CallFailed

AGENTS = "agents"
WORKFLOWS = "workflows"

DEEPEST = 8
"""Sessions and runs inside each other, the outermost included."""

LOCAL = "local"
"""Whose a call is that belongs to no session and no run."""


@dataclass(frozen=True, slots=True)
class Owner:
    """The session or run that a call belongs to."""

    principal: str
    auto: bool
    """Whether it goes on by itself when results come."""
    caller: str | None
    """The session or run that called it."""


def caller_of(idempotency_key: str | None) -> tuple[str, str] | None:
    """Give the session or run, and its call, that a run was started by; None where it was somebody outside."""
    owner, separator, call_id = (idempotency_key or "").partition(":")
    known = separator and (is_run_id(owner) or is_session_id(owner))
    return (owner, call_id) if known else None


async def owner_of(stores: Stores, owner_id: str) -> Owner:
    """Look at the session or run of an id; what is neither, or is gone, has nobody around it."""
    try:
        if is_session_id(owner_id):
            session = await stores.sessions.load_record(SessionId(owner_id))
            return Owner(session.principal, session.auto, None if session.parent is None else session.parent.id)
        if is_run_id(owner_id):
            run = await stores.runs.load(RunId(owner_id))
            caller = caller_of(run.idempotency_key)
            return Owner(run.principal, True, None if caller is None else caller[0])
    except (RunNotFound, SessionNotFound):
        pass
    return Owner(LOCAL, False, None)


async def is_awaited(stores: Stores, session: SessionRecord) -> bool:
    """Tell whether the caller of a session waits for it: it would call again if the session were gone."""
    parent = session.parent
    if parent is None:
        return False
    try:
        if parent.kind == "run":
            run = await stores.runs.load(RunId(parent.id))
            status, waiting = run.status, [str(call["id"]) for call in run.pending_calls]
        else:
            caller = await stores.sessions.load_record(SessionId(parent.id))
            status, waiting = caller.status, [call.call_id for call in caller.pending]
    except (RunNotFound, SessionNotFound):
        return False
    keys = [idempotency_key(parent.id, call_id) for call_id in waiting]
    if any(derived_session_id(parent.id, key, session.created_at) == session.session_id for key in keys):
        return True
    # Its call is not seen to wait yet, or was cut off and is made again.
    return status in {"ready", "running"} and session.status not in {"answered", "failed"}


async def require_shallow(stores: Stores, context: CallContext, owner: Owner) -> None:
    """Refuse a call that is nested too deeply: probably an agent or a workflow calls itself.

    Raises:
        CallFailed: code `call_too_deep`; nothing was called.
    """
    around, above = [context.run_id], owner.caller
    while above is not None and len(around) < DEEPEST:
        around.append(above)
        above = (await owner_of(stores, above)).caller
    if len(around) >= DEEPEST:
        raise CallFailed(
            "call_too_deep",
            f"Agents and workflows call each other at most {DEEPEST} deep: {' < '.join(around)}.",
            executed=False,
            hint="Probably an agent or a workflow calls itself.",
            details={"around": around},
        )
