"""A session as it is stored: what can be shown without its events, and what it is loaded from."""

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field

from wf_artifacts.storage.documents import Format
from wf_artifacts.storage.records import Array, Record, Time
from wf_core.calls.tracked import CallState
from wf_core.ids import SessionId

SessionStatus = Literal["ready", "running", "waiting", "answered", "failed"]
"""Can be gone on with; is gone on with; waits for results; has its answer; ended without one."""


class PendingCall(Record):
    """A call that has no result yet, whoever is to give it. Stored, so it says no more than is read of it."""

    call_id: str
    name: str
    """As the model wrote it."""
    capability: str | None = None
    """What it means. None where the model named what is not there."""
    state: CallState
    token: str | None = None
    """By which the outside delivers its result. None where nobody may."""


class SessionParent(Record):
    """Who waits for the answer of a session."""

    kind: Literal["session", "run"]
    id: str


class SessionRecord(Record):
    """A session as far as it can be shown without its events."""

    session_id: SessionId
    principal: str
    """Whose session it is. To anybody else it does not exist."""
    agent: str
    """The slug of the agent that it was started with."""
    status: SessionStatus
    answer: str | None = None
    error: dict[str, Any] | None = None
    turns: int = Field(default=0, ge=0)
    position: int = Field(default=0, ge=0)
    """How many events have made it."""
    auto: bool = False
    """Whether a server goes on with it by itself when a result comes."""
    pending: Array[PendingCall] = ()
    """Every call without a result, the oldest first."""
    parent: SessionParent | None = None
    created_at: Time
    updated_at: Time


@dataclass(frozen=True, slots=True)
class StoredSession:
    """Everything that is kept of a session, as it was at one moment."""

    record: SessionRecord
    header: bytes
    """What `wf_core.codec.sessions` made when the session was created; the store does not look into it."""
    events: list[bytes]
    """`record.position` of them, the oldest first: one JSON object each, without a newline."""


SESSION_RECORD = Format("wf.session_record", 2, SessionRecord, plain=1)
