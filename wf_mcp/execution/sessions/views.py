"""A session as it is shown: its record, its turns, and the calls that the outside can answer."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from wf_artifacts.calls.models import ContinuationKind, Waiting
from wf_artifacts.errors import CallNotFound
from wf_artifacts.sessions.models import SessionRecord
from wf_core.calls.policy_data import disposition_to_json
from wf_core.calls.tracked import CallState, TrackedCall
from wf_core.jsonvalue import JsonValue
from wf_core.sessions import LlmTurn, Session, Usage
from wf_mcp.execution.calls.isolated import NO_RUNNER
from wf_mcp.execution.sessions.mail import open_to_outside
from wf_mcp.execution.sessions.making import is_isolated, runner_of, tool_of
from wf_mcp.execution.sessions.means import SessionMeans


@dataclass(frozen=True, slots=True)
class PendingCall:
    """A call that the outside can answer."""

    token: str
    state: CallState
    session_id: str
    call_id: str
    name: str
    capability: str
    arguments: JsonValue
    kind: ContinuationKind
    disposition: Mapping[str, JsonValue]
    rule: str
    reason: str | None
    since: datetime
    expires_at: datetime | None


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
        pending.append(_pending(means, session, call, waiting))
    return SessionView(record, session, tuple(pending))


def _pending(means: SessionMeans, session: Session, call: TrackedCall, waiting: Waiting) -> PendingCall:
    kept = waiting.continuation
    reason = call.reason or kept.reason
    if kept.kind == "isolated" and is_isolated(call) and runner_of(means, session, call) is None:
        reason = NO_RUNNER
    return PendingCall(
        token=waiting.token,
        state=call.state,
        session_id=session.id,
        call_id=call.id,
        name=call.name,
        capability=tool_of(session, call).capability,
        arguments=call.arguments,
        kind=kept.kind,
        disposition=disposition_to_json(call.policy.disposition),
        rule=call.policy.rule,
        reason=reason,
        since=kept.created_at,
        expires_at=kept.expires_at,
    )
