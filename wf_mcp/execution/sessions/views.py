"""A session as it is shown: its record, its turns, and the calls that the outside can answer."""

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Self

from wf_artifacts.calls.models import Continuation, ContinuationKind, Waiting
from wf_artifacts.errors import CallNotFound
from wf_artifacts.sessions.models import SessionRecord
from wf_core.calls.tracked import CallState, TrackedCall
from wf_core.errors import StateError
from wf_core.jsonvalue import JsonValue
from wf_core.sessions import LlmTurn, Session, Usage
from wf_mcp.execution.calls.isolated import NO_RUNNER
from wf_mcp.execution.sessions.mail import open_to_outside
from wf_mcp.execution.sessions.making import is_isolated, runner_of
from wf_mcp.execution.sessions.means import SessionMeans

MANY = 8
"""From so many calls on they are looked at together."""


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
    more: bool = False
    """Whether calls may wait beside those in `pending`: not more than `most` were asked for."""

    @property
    def usage(self) -> Usage:
        """Sum up what the model's answers cost."""
        spent = [turn.usage for turn in self.session.turns if isinstance(turn, LlmTurn)]
        return Usage(sum(one.input_tokens for one in spent), sum(one.output_tokens for one in spent))


async def view(means: SessionMeans, record: SessionRecord, session: Session, *, most: int | None = None) -> SessionView:
    """Show a session, with the first `most` of its calls that wait, or with all of them.

    What that costs does not grow with those that are not shown.
    """
    calls = open_to_outside(session)
    if most is None or len(calls) <= most:
        kept = await _kept(means, session, calls)
        # What is missing was ended while we looked; what is not open has its answer, which is taken when it goes on.
        shown = [kept[token] for token in calls if token in kept and kept[token].state == "open"]
    else:
        shown = await means.continuations.first_open(calls, now=means.clock.now(), limit=most)
    pending = tuple(_pending(means, session, calls[one.token], one.continuation) for one in shown)
    return SessionView(record, session, pending, more=len(pending) == most and len(calls) > len(pending))


async def _kept(means: SessionMeans, session: Session, tokens: Collection[str]) -> dict[str, Waiting]:
    """Give what is kept of calls that wait: with one look where they are many, and most of the session's."""
    now = means.clock.now()
    found: dict[str, Waiting] = {}
    if len(tokens) >= MANY and 2 * len(tokens) >= len(session.provider_ids):
        with suppress(StateError):  # of another call, maybe
            found = {one.token: one for one in await means.continuations.of_session(session.id, now=now)}
    for token in tokens:
        if token not in found:
            with suppress(CallNotFound):
                found[token] = await means.continuations.load(token, principal=None, now=now)
    return found


def _pending(means: SessionMeans, session: Session, call: TrackedCall, kept: Continuation) -> PendingCall:
    reason = call.reason or kept.reason
    if kept.kind == "isolated" and is_isolated(call) and runner_of(means, session, call) is None:
        reason = NO_RUNNER
    return replace(PendingCall.of(kept), reason=reason)
