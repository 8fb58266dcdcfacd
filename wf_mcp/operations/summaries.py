"""How a stored run is told: what it is now, what it waits for, and what can be done next."""

from collections.abc import Mapping, Sequence
from typing import Any

from wf_artifacts.catalog.models import Deployment
from wf_artifacts.runs.environment import PinnedEnvironment
from wf_artifacts.runs.models import RunRecord
from wf_core.errors import WfError
from wf_core.ids import call_token
from wf_core.times import iso
from wf_core.validation import Issue
from wf_mcp.app import App
from wf_mcp.errors import RunBlocked
from wf_mcp.execution import pins
from wf_mcp.execution.pins import Readiness
from wf_mcp.operations.callees import Looked, look
from wf_mcp.operations.models import (
    Diagnostic,
    InterruptView,
    OpenCall,
    OpenQuestion,
    PendingCall,
    ResumeReadiness,
    RunErrorView,
    RunRow,
    RunSummary,
)

INSPECTION_SECONDS = 10.0
"""How long an inspection waits for sources to say what they offer now."""

MOST_ACTIONS = 5
"""How many questions and how many calls `next_actions` says how to answer. The others are answered alike."""

MOST_OUTCOMES = 10
"""How many outcomes of a question `next_actions` names. The question names them all."""

_DOUBT = (None, "in_doubt")

_REASONS = {
    "deferred": "The call policy of the deployment leaves this call to somebody outside.",
    "approval": "The call policy of the deployment lets a person decide about this call before it is made.",
    "in_doubt": "The process that made this call ended before the result was stored. Whether the call was carried "
    "out is not known, and it is neither read-only nor idempotent, so it is not repeated unasked.",
}


async def summarize(
    app: App,
    record: RunRecord,
    *,
    environment: PinnedEnvironment | None = None,
    patience: float | None = INSPECTION_SECONDS,
    left: WfError | None = None,
) -> RunSummary:
    """Tell where a run stands. Nothing is written.

    Of a run that nobody advances the sources are asked whether it could go on, for `patience` seconds, or as long as
    they need. `environment` is what it is pinned to, if that is known. `left` is why it could not be taken over.
    """
    record, abandoned = await _looked_after(app, record)
    readiness = None
    if abandoned or record.status == "interrupted":
        readiness = await _readiness(app, record, environment, patience)
    diagnostics = [] if readiness is None else diagnose(readiness.issues)
    if left is not None and not isinstance(left, RunBlocked):
        diagnostics.append(unusable(left))
    interrupts = [question(interrupt) for interrupt in record.interrupts]
    waiting = await look(app, record.run_id, pending_calls(record))
    diagnostics += waiting.stuck.values()
    ready = resume_readiness(record, readiness)
    answerable = ready == "ready" or app.runs.handle(record.run_id).live is not None
    return RunSummary(
        run_id=record.run_id,
        status=record.status,
        resume_readiness=ready,
        deployment_id=record.deployment_id,
        artifact_id=record.artifact_id,
        artifact_version=record.artifact_version,
        outcome=record.outcome,
        output=record.output,
        error=None if record.error is None else RunErrorView.model_validate(record.error),
        interrupt=interrupts[0] if interrupts else None,
        interrupts=interrupts,
        pending_calls=waiting.calls,
        diagnostics=diagnostics,
        trace_count=record.trace_count,
        steps_executed=record.steps_executed,
        latest_checkpoint_id=f"{record.run_id}/{record.checkpoint:06d}",
        created_at=iso(record.created_at),
        updated_at=iso(record.updated_at),
        next_actions=_next_actions(record, ready, interrupts if answerable else [], waiting, abandoned=abandoned),
    )


def unrunnable(deployment: Deployment, issues: Sequence[Issue]) -> RunSummary:
    """Tell why no run was created."""
    return RunSummary(
        run_id=None,
        status="unrunnable",
        resume_readiness="not_applicable",
        deployment_id=deployment.deployment_id,
        artifact_id=deployment.artifact_id,
        artifact_version=deployment.artifact_version,
        diagnostics=diagnose(issues),
        next_actions=[
            f'inspect_deployment(deployment_id="{deployment.deployment_id}") once the diagnostics are resolved'
        ],
    )


def row(record: RunRecord, readiness: Readiness | None) -> RunRow:
    """Tell a run in one line of a list."""
    return RunRow(
        run_id=record.run_id,
        status=record.status,
        resume_readiness=resume_readiness(record, readiness),
        deployment_id=record.deployment_id,
        artifact_id=record.artifact_id,
        artifact_version=record.artifact_version,
        outcome=record.outcome,
        error_code=None if record.error is None else record.error["code"],
        interrupts=[OpenQuestion.model_validate(interrupt) for interrupt in record.interrupts],
        pending_calls=[OpenCall.model_validate(call.model_dump()) for call in pending_calls(record)],
        trace_count=record.trace_count,
        steps_executed=record.steps_executed,
        created_at=iso(record.created_at),
        updated_at=iso(record.updated_at),
    )


def resume_readiness(record: RunRecord, readiness: Readiness | None) -> ResumeReadiness:
    """Say whether an answer would let the run go on."""
    if readiness is None:
        return "not_applicable"
    if not readiness.ready:
        return "blocked"
    if record.status != "interrupted":
        return "not_applicable"
    only_doubts = bool(record.pending_calls) and all(call.get("awaits") in _DOUBT for call in record.pending_calls)
    return "blocked" if only_doubts and not record.interrupts else "ready"


def pending_calls(record: RunRecord) -> list[PendingCall]:
    """Tell the calls that wait, as they are stored in a record."""
    return [_pending(record, call) for call in record.pending_calls]


def settle_action(call: PendingCall) -> str:
    """Say who ends the wait of a call, and how."""
    match call.awaits:
        case "deferred":
            return (
                f'complete_call(token="{call.token}", result=<what {call.capability} gave>), '
                f'or fail_call(token="{call.token}", error=…)'
            )
        case "approval":
            return (
                f"a person allows or refuses {call.capability}: "
                f"wf calls approve {call.token}, or wf calls fail {call.token}"
            )
        case "isolated":
            return (
                f"wf calls retry {call.token} once there is a runner, "
                f'or complete_call(token="{call.token}", result=<what {call.capability} gave>)'
            )
        case "callee":
            return (
                f"{call.capability} goes on elsewhere ({call.reason}) and is taken up when it has ended; "
                f"list_pending() says what it waits for, wf calls retry {call.token} asks it again"
            )
        case _:
            return (
                f"a person finds out whether {call.capability} was carried out, then: "
                f"wf calls complete {call.token} RESULT, wf calls fail {call.token}, or wf calls retry {call.token}"
            )


def question(interrupt: Mapping[str, object]) -> InterruptView:
    """Tell an open question as it is stored in a record."""
    return InterruptView.model_validate(interrupt)


def answer_action(run_id: str, interrupt: InterruptView) -> str:
    """Say how an open question is answered."""
    named = interrupt.outcomes[:MOST_OUTCOMES]
    others = [f"<one of {len(interrupt.outcomes)} outcomes>"] if len(named) < len(interrupt.outcomes) else []
    if interrupt.answered_by == "person":
        outcomes = "|".join([*named, *others])
        return f"a person answers: wf runs resume {run_id} --interrupt {interrupt.id} --outcome {outcomes}"
    outcomes = " or ".join([*(f'"{outcome}"' for outcome in named), *others])
    return (
        f'resume_run(run_id="{run_id}", interrupt_id="{interrupt.id}", resume_outcome={outcomes}, '
        "resume_payload=<what resume_schema asks for>)"
    )


def diagnose(issues: Sequence[Issue]) -> list[Diagnostic]:
    """Tell what was found about a plan or a pin."""
    return [Diagnostic.model_validate(issue.as_json() | {"path": issue.path or None}) for issue in issues]


def unusable(error: WfError) -> Diagnostic:
    """Tell why something stored cannot be read, or gone on with."""
    return Diagnostic(severity="error", code=error.code, message=error.message, hint=error.hint)


def _pending(record: RunRecord, call: Mapping[str, Any]) -> PendingCall:
    awaits = call.get("awaits", "in_doubt")
    return PendingCall(
        token=call_token(record.run_id, call["id"]),
        state="in_doubt" if awaits == "in_doubt" else "deferred",
        step_id=call["step_id"],
        path=call["path"],
        capability=call["capability"],
        arguments=call["arguments"],
        awaits=awaits,
        reason=call.get("reason") or _REASONS.get(awaits),
        since=call.get("since", call["started_at"]),
        expires_at=call.get("expires_at"),
    )


async def _readiness(
    app: App, record: RunRecord, environment: PinnedEnvironment | None, patience: float | None
) -> Readiness:
    if environment is None:
        environment = await app.stores.runs.load_environment(record.run_id)
    return pins.readiness(environment, await pins.ask(app.registry, pins.names(environment), seconds=patience))


async def _looked_after(app: App, record: RunRecord) -> tuple[RunRecord, bool]:
    """Give the run as it is now, and whether it is running although no process advances it."""
    if record.status != "running" or await app.stores.runs.is_claimed(record.run_id):
        return record, False
    # It may have stopped after it was read and before its claim was looked at.
    record = await app.stores.runs.load(record.run_id)
    return record, record.status == "running"


def _next_actions(
    record: RunRecord, ready: ResumeReadiness, answerable: list[InterruptView], waiting: Looked, *, abandoned: bool
) -> list[str]:
    name = f'run_id="{record.run_id}"'
    answers = [answer_action(record.run_id, interrupt) for interrupt in answerable[:MOST_ACTIONS]]
    settlements = [waiting.action(call, settle_action(call)) for call in waiting.calls[:MOST_ACTIONS]]
    if record.status == "running":
        look = f"inspect_run({name}, wait_seconds=25)"
        if not abandoned:
            return [look, *answers, *settlements]
        return [f"{look} goes on with it, as wf runs recover {record.run_id} does", f"cancel_run({name})"]
    if settlements:
        return [*answers, *settlements]
    if ready == "blocked":
        return [f"validate_run({name}) once the diagnostics are resolved", f"cancel_run({name})"]
    if ready == "ready":
        return answers
    if record.status == "failed":
        return [f"read_run_trace({name}, start=-5)"]
    return []
