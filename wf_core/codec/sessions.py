"""The stored form of a session: a header, format `wf.session` version 3, and one line of JSON for each event.

A session that was replayed from its lines goes on as one that was not.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

from wf_core.codec import envelope
from wf_core.codec.agents import agent_to_json, read_agent
from wf_core.codec.fields import Fields, corrupt
from wf_core.codec.session_events import read_event
from wf_core.errors import SessionRefused, StateCorrupt
from wf_core.jsonvalue import dumps
from wf_core.sessions.applying import apply
from wf_core.sessions.forms import state_to_json
from wf_core.sessions.models import CallerPolicy, Parent, Session, SessionHeader

FORMAT = "wf.session"
VERSION = 3
_PLAIN: Final = 2
"""The last version without a checksum."""


def dump_header(session: Session | SessionHeader) -> bytes:
    """Write what of a session never changes: id, seed, agent, parent, callers."""
    return envelope.dump(FORMAT, VERSION, _header(session))


def load_header(data: bytes) -> SessionHeader:
    """Read a header.

    Raises:
        StateCorrupt: damaged; the error says where.
        FormatTooNew: written by a newer version.
    """
    body = envelope.load(data, format=FORMAT, supported=VERSION, plain=_PLAIN, upgrades=_UPGRADES)
    try:
        with Fields(body, "header") as fields:
            return SessionHeader(
                id=fields.of(str, "id"),
                seed=fields.of(str, "seed"),
                agent=read_agent(fields.any("agent"), "header.agent"),
                parent=_read_parent(fields.any("parent"), "header.parent"),
                callers=tuple(fields.each("callers", _read_caller)),
            )
    except StateCorrupt as bad:
        raise _corrupt(bad) from bad


def replay(header: bytes | SessionHeader, lines: Iterable[bytes]) -> Session:
    """Make a session from its header and its events, oldest first; `fresh_events` is empty.

    Raises:
        StateCorrupt: an event is damaged, unknown, or not allowed where it stands; the error names its line, from 0.
        FormatTooNew: the header was written by a newer version.
    """
    read = load_header(header) if isinstance(header, bytes) else header
    session = Session(read.id, read.seed, read.agent, parent=read.parent, callers=read.callers)
    for number, line in enumerate(lines):
        where = f"events[{number}]"
        try:
            apply(session, read_event(line, where, read))
        except StateCorrupt as bad:
            raise _corrupt(bad) from bad
        except SessionRefused as refused:
            raise _damaged(where, f"is not allowed where it stands: {refused.message}") from refused
    if not session.turns:
        raise _damaged("events", "are missing")
    return session


def dump_session(session: Session) -> bytes:
    """Write the whole state. Sessions that are equal give equal bytes. Nothing reads it: it is there to be compared."""
    return dumps({**_header(session), "position": session.position, **state_to_json(session)})


def _header(session: Session | SessionHeader) -> dict[str, Any]:
    parent = session.parent
    return {
        "id": session.id,
        "seed": session.seed,
        "agent": agent_to_json(session.agent),
        "parent": None if parent is None else {"kind": parent.kind, "id": parent.id, "token": parent.token},
        "callers": [
            {"agent": caller.agent, "policy": dict(caller.policy), "names": dict(caller.names)}
            for caller in session.callers
        ],
    }


def _without_callers(body: envelope.Body) -> envelope.Body:
    """Version 1 knew no policy but the agent's own."""
    return {**body, "callers": []}


_UPGRADES: Final[Mapping[int, envelope.Upgrade]] = {1: _without_callers}


def _read_parent(value: object, where: str) -> Parent | None:
    if value is None:
        return None
    with Fields(value, where) as fields:
        return Parent(fields.one_of(("session", "run"), "kind"), fields.of(str, "id"), fields.of(str, "token"))


def _read_caller(value: object, where: str) -> CallerPolicy:
    with Fields(value, where) as fields:
        names = fields.object("names")
        if not all(isinstance(name, str) for name in names.values()):
            raise corrupt(f"{where}.names", "holds what is no name")
        return CallerPolicy(fields.of(str, "agent"), fields.object("policy"), cast("dict[str, str]", names))


def _corrupt(found: StateCorrupt) -> StateCorrupt:
    return _damaged(str(found.details["where"]), str(found.details["reason"]))


def _damaged(where: str, reason: str) -> StateCorrupt:
    return StateCorrupt(
        f"The stored session is damaged: {where} {reason}{'' if reason.endswith('.') else '.'}",
        hint="It was left as it is; restore it from a copy.",
        details={"where": where, "reason": reason},
    )
