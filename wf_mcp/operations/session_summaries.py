"""How a session is told: what it is now, what it waits for, and what can be done next."""

from collections.abc import Sequence

from wf_artifacts.sessions.models import SessionRecord
from wf_core.errors import WfError
from wf_core.jsonvalue import shorten
from wf_core.sessions import Stop, next_action
from wf_core.times import iso
from wf_core.validation import Issue
from wf_mcp.app import App
from wf_mcp.execution.calls.isolated import NO_RUNNER
from wf_mcp.execution.records import SHOWN_BYTES
from wf_mcp.execution.sessions.views import PendingCall as Waiting
from wf_mcp.execution.sessions.views import SessionView
from wf_mcp.operations.answers import Diagnostic
from wf_mcp.operations.callees import Looked, look
from wf_mcp.operations.conversations import conversation, queued
from wf_mcp.operations.models import PendingCall
from wf_mcp.operations.session_models import (
    SessionDetail,
    SessionErrorView,
    SessionRow,
    SessionSummary,
    UsageView,
)
from wf_mcp.operations.summaries import diagnose, unusable

MOST_ACTIONS = 5
"""How many calls `next_actions` says how to answer. The others are answered alike."""


async def detail(app: App, view: SessionView, *, turns: int = 0, left: WfError | None = None) -> SessionDetail:
    """Tell where a session stands, with the last turns of its conversation. Nothing is written.

    Of one that nobody advances it is looked whether it could go on: what it needs may be gone. `left` is why it was
    left where it stands.
    """
    record = await _seen(app, view.record)
    missing = [] if record.status == "running" else await _missing(app, view)
    waiting = await look(app, record.session_id, [pending_call(waiting) for waiting in view.pending])
    pending = waiting.calls
    return SessionDetail(
        session_id=record.session_id,
        status="blocked" if missing else record.status,
        agent=record.agent,
        answer=record.answer,
        error=None if record.error is None else SessionErrorView.model_validate(record.error),
        turns=record.turns,
        pending_calls=pending,
        queued_prompts=queued(view.session),
        usage=UsageView(input_tokens=view.usage.input_tokens, output_tokens=view.usage.output_tokens),
        diagnostics=[*missing, *([] if left is None else [unusable(left)]), *_more(view), *waiting.stuck.values()],
        parent=None if record.parent is None else record.parent.id,
        created_at=iso(record.created_at),
        updated_at=iso(record.updated_at),
        next_actions=_next_actions(record, waiting, blocked=bool(missing)),
        conversation=conversation(view.session, turns),
    )


def _more(view: SessionView) -> list[Diagnostic]:
    """Say that more calls wait than are told."""
    if not view.more:
        return []
    message = f"`pending_calls` has the first {len(view.pending)} calls that wait; there may be more."
    hint = f'list_pending(session_id="{view.record.session_id}") lists all that waits, a page at a time.'
    return [Diagnostic(severity="warning", code="shortened", message=message, hint=hint)]


def summary(told: SessionDetail) -> SessionSummary:
    """Leave the conversation out."""
    return SessionSummary.model_validate(told.model_dump(exclude={"conversation"}))


def unrunnable(agent: str, issues: Sequence[Issue]) -> SessionSummary:
    """Tell why no session was created."""
    return SessionSummary(
        session_id=None,
        status="unrunnable",
        agent=agent,
        diagnostics=diagnose(issues),
        next_actions=["start_session again once the diagnostics are resolved"],
    )


def row(record: SessionRecord) -> SessionRow:
    """Tell a session in one line of a list."""
    return SessionRow(
        session_id=record.session_id,
        status=record.status,
        agent=record.agent,
        turns=record.turns,
        pending=len(record.pending),
        error_code=None if record.error is None else record.error["code"],
        created_at=iso(record.created_at),
        updated_at=iso(record.updated_at),
    )


def pending_call(waiting: Waiting) -> PendingCall:
    """Tell a call of a session that the outside can answer."""
    return PendingCall(
        token=waiting.token,
        state="in_doubt" if waiting.state == "in_doubt" else "deferred",
        session_id=waiting.session_id,
        call_id=waiting.call_id,
        name=waiting.name,
        capability=waiting.capability,
        arguments=shorten(waiting.arguments, SHOWN_BYTES),
        awaits=waiting.kind,
        disposition=None if waiting.disposition is None else dict(waiting.disposition),
        reason=waiting.reason,
        since=iso(waiting.since),
        expires_at=None if waiting.expires_at is None else iso(waiting.expires_at),
    )


def answer_action(call: PendingCall) -> str:
    """Say how a call of a session is answered."""
    match call.awaits:
        case "approval":
            return f"a person allows or refuses {call.name}: wf session approve {call.token}, or wf session fail"
        case "in_doubt":
            return (
                f"a person finds out whether {call.name} was carried out, then: "
                f"wf calls complete {call.token} RESULT, wf calls fail {call.token}, or wf calls retry {call.token}"
            )
        case "isolated" if call.reason == NO_RUNNER:
            return (
                f"neither the agent nor its policy says where {call.name} can run; a worker elsewhere answers it: "
                f'complete_call(token="{call.token}", result=<what {call.name} gave>)'
            )
        case "isolated":
            return f'run_isolated(session_id="{call.session_id}"), or complete_call(token="{call.token}", result=…)'
        case "callee":
            return (
                f"{call.name} goes on elsewhere ({call.reason}) and is taken up when it has ended; "
                "list_pending() says what it waits for"
            )
        case _:
            return f'complete_call(token="{call.token}", result=<what {call.name} gave>)'


async def _seen(app: App, record: SessionRecord) -> SessionRecord:
    """Say of a session that somebody advances that it is running: its model is asked without anything being stored."""
    if record.status not in {"ready", "waiting"}:
        return record
    goes_on = app.sessions.advances(record.session_id) or await app.stores.sessions.is_claimed(record.session_id)
    return record.model_copy(update={"status": "running"}) if goes_on else record


async def _missing(app: App, view: SessionView) -> list[Diagnostic]:
    """Look whether a session that rests, and is not at its end, could go on."""
    if isinstance(next_action(view.session), Stop):
        return []
    found = await app.sessions.means.missing(view.session.agent)
    return [Diagnostic.model_validate({**issue, "path": issue.get("path") or None}) for issue in found]


def _next_actions(record: SessionRecord, waiting: Looked, *, blocked: bool) -> list[str]:
    name, pending = f'session_id="{record.session_id}"', waiting.calls
    if blocked:
        stuck = [waiting.action(call, "") for call in pending if call.token in waiting.stuck][:MOST_ACTIONS]
        return [*stuck, f"resume_session({name}) once the diagnostics are resolved"]
    answers = [waiting.action(call, answer_action(call)) for call in pending[:MOST_ACTIONS]]
    match record.status:
        case "running":
            return [f"inspect_session({name}, wait_seconds=25)"]
        case "ready":
            return [f"resume_session({name})"]
        case "waiting":
            return [*answers, f"then resume_session({name})"] if answers else [f"resume_session({name})"]
        case _:
            told = [f"resume_session({name}) takes what was told"] if len(pending) < len(record.pending) else []
            return [*told, *answers, f"resume_session({name}, prompt=<what the user says next>)"]
