"""Who called whom: the session or run that a call belongs to, whose it is, and how deep it is nested."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from wf_artifacts.errors import RunNotFound, SessionNotFound
from wf_artifacts.runs.models import RunRecord
from wf_artifacts.sessions.models import SessionRecord
from wf_artifacts.sessions.rules import ENDED
from wf_artifacts.stores import Stores
from wf_core.calls.capability import CallContext, idempotency_key
from wf_core.errors import StateError
from wf_core.ids import RunId, SessionId, derived_session_id, is_run_id, is_session_id
from wf_core.state import FINAL
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


@dataclass(frozen=True, slots=True)
class Caller:
    """A session or a run as far as its callees are concerned."""

    kind: Literal["session", "run"]
    principal: str
    status: str
    ended: bool
    at_rest: bool
    """Whether all that it waits for is in `keys`. One that is advanced, or was cut off, may wait for more."""
    keys: frozenset[str]
    """Idempotency keys of its calls that are seen to wait."""


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


async def load_caller(stores: Stores, owner_id: str) -> Caller:
    """Read the session or run of an id.

    Raises:
        RunNotFound, SessionNotFound, StateError, StoreUnavailable: it is not known.
    """
    if is_session_id(owner_id):
        session = await stores.sessions.load_record(SessionId(owner_id))
        status, ended = session.status, session.status in ENDED
        keys = frozenset(idempotency_key(owner_id, call.call_id) for call in session.pending)
        # Of one that is ready its last events may be lost: it may make a call again.
        return Caller("session", session.principal, status, ended, status not in {"ready", "running"}, keys)
    run = await stores.runs.load(RunId(owner_id))
    keys = frozenset(idempotency_key(owner_id, str(call["id"])) for call in run.pending_calls)
    return Caller("run", run.principal, run.status, run.status in FINAL, run.status != "running", keys)


async def is_wanted(stores: Stores, called: RunRecord | SessionRecord) -> bool:
    """Tell whether whoever called a run or a session may ask for its answer: it waits for it, or has not ended.

    One that was cut off makes its calls again, so what it is not seen to wait for may be wanted too.
    """
    try:
        caller = await _caller_of(stores, called)
    except StateError:  # nobody can tell
        return True
    return caller is not None and (not caller.ended or waits(caller.keys, called))


async def is_awaited(stores: Stores, session: SessionRecord) -> bool:
    """Tell whether the caller of a session waits for it: it would call again if the session were gone.

    Raises:
        StateError: the caller cannot be read.
    """
    caller = await _caller_of(stores, session)
    return caller is not None and (waits(caller.keys, session) or not caller.at_rest)


def waits(keys: Collection[str], called: RunRecord | SessionRecord) -> bool:
    """Tell whether a run or a session is what one of its caller's calls, by their idempotency keys, waits for."""
    if isinstance(called, RunRecord):
        return called.idempotency_key in keys
    parent = called.parent
    return parent is not None and any(
        derived_session_id(parent.id, key, called.created_at) == called.session_id for key in keys
    )


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


async def _caller_of(stores: Stores, called: RunRecord | SessionRecord) -> Caller | None:
    if isinstance(called, RunRecord):
        named = caller_of(called.idempotency_key)
        owner = None if named is None else named[0]
    else:
        owner = None if called.parent is None else called.parent.id
    try:
        return None if owner is None else await load_caller(stores, owner)
    except (RunNotFound, SessionNotFound):
        return None
