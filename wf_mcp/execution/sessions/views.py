"""A session as it is shown: its record, its turns, and the calls that the outside can answer."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Self

from wf_artifacts.calls.models import Continuation, ContinuationKind
from wf_artifacts.errors import CallNotFound
from wf_artifacts.sessions.models import SessionRecord
from wf_core.calls.tracked import CallState, TrackedCall
from wf_core.jsonvalue import JsonValue
from wf_core.sessions import LlmTurn, Session, Usage
from wf_mcp.execution.calls.isolated import NO_RUNNER
from wf_mcp.execution.sessions.mail import open_to_outside
from wf_mcp.execution.sessions.making import is_isolated, runner_of
from wf_mcp.execution.sessions.means import SessionMeans


@dataclass(frozen=True, slots=True)
class PendingCall:
    """A call that the outside can answer, as Python programs see it.

    `operations.models.PendingCall` is part of the tools' output schemas, and is a run's call as well as a session's.
    """

    token: str
    state: CallState
    session_id: str
    call_id: str
    name: str
    capability: str
    arguments: JsonValue
    kind: ContinuationKind
    disposition: Mapping[str, JsonValue] | None
    rule: str
    reason: str | None
    since: datetime
    expires_at: datetime | None

    @classmethod
    def of(cls, kept: Continuation) -> Self:
        """Tell a call as it was when it was put off."""
        return cls(
            token=kept.token,
            state="in_doubt" if kept.kind == "in_doubt" else "deferred",
            session_id=kept.session_id,
            call_id=kept.call_id,
            name=kept.name,
            capability=kept.capability,
            arguments=kept.arguments,
            kind=kept.kind,
            disposition=kept.disposition,
            rule=kept.rule,
            reason=kept.reason,
            since=kept.created_at,
            expires_at=kept.expires_at,
        )


@dataclass(frozen=True, slots=True)
class SessionView:
    """A session at one moment. The session is only to be read, and only until the next wait."""

    record: SessionRecord
    session: Session
    pending: tuple[PendingCall, ...]
    """In call order."""

    @property
    def usage(self) -> Usage:
        """Sum up what the model's answers cost."""
        spent = [turn.usage for turn in self.session.turns if isinstance(turn, LlmTurn)]
        return Usage(sum(one.input_tokens for one in spent), sum(one.output_tokens for one in spent))


async def view(means: SessionMeans, record: SessionRecord, session: Session) -> SessionView:
    """Show a session."""
    now = means.clock.now()
    pending: list[PendingCall] = []
    for token, call in open_to_outside(session).items():
        try:
            waiting = await means.continuations.load(token, principal=None, now=now)
        except CallNotFound:
            continue  # it was ended while we looked
        if waiting.state != "open":
            continue  # it has its answer, which is taken when the session goes on
        pending.append(_pending(means, session, call, waiting.continuation))
    return SessionView(record, session, tuple(pending))


def _pending(means: SessionMeans, session: Session, call: TrackedCall, kept: Continuation) -> PendingCall:
    reason = call.reason or kept.reason
    if kept.kind == "isolated" and is_isolated(call) and runner_of(means, session, call) is None:
        reason = NO_RUNNER
    return replace(PendingCall.of(kept), reason=reason)
