"""How a run's state is told in its stored record: what lists and summaries read without loading the state."""

from datetime import datetime
from typing import Any

from wf_artifacts.runs.models import RunRecord
from wf_core.jsonvalue import shorten
from wf_core.state import Frame, Interrupt, Pending, RunState
from wf_core.times import iso

SHOWN_BYTES = 4096
"""Longer values are shortened and marked where they are shown, as in the trace."""


def describe(run: RunState, before: RunRecord, *, checkpoint: int, now: datetime) -> RunRecord:
    """Bring a record up to what `run` is now, with the checkpoint that holds it."""
    told = {
        "status": run.status,
        "outcome": run.outcome,
        "output": run.output,
        "error": run.error.to_json() if run.error else None,
        "interrupts": [_question(interrupt) for interrupt in run.interrupts.values()],
        "pending_calls": [_pending(run.frames[frame]) for frame in run.pending_calls.values()],
        "trace_count": run.trace_count,
        "steps_executed": run.steps_executed,
        "checkpoint": checkpoint,
        "updated_at": now,
    }
    return before.model_copy(update=told)


def _question(interrupt: Interrupt) -> dict[str, Any]:
    return {
        "id": interrupt.id,
        "kind": interrupt.kind,
        "step_id": interrupt.step_id,
        "path": list(interrupt.path),
        "payload": interrupt.payload,
        "outcomes": list(interrupt.outcomes),
        "request_schema": interrupt.request_schema,
        "resume_schema": interrupt.resume_schema,
        "outcome_schemas": interrupt.outcome_schemas,
        "typed": interrupt.typed,
        "answered_by": interrupt.answered_by,
        "opened_at": iso(interrupt.opened_at),
    }


def _pending(frame: Frame) -> dict[str, Any]:
    waiting = frame.activity
    if not isinstance(waiting, Pending):
        raise AssertionError("a call that waits is that of a frame that waits for it")
    call = waiting.call
    return {
        "id": call.id,
        "step_id": frame.step_id,
        "path": [*frame.prefix, frame.step_id],
        "capability": call.capability,
        "arguments": shorten(call.input, SHOWN_BYTES),
        "attempt": call.attempt,
        "started_at": iso(call.started_at),
        "awaits": waiting.awaits,
        "reason": waiting.reason,
        "since": iso(waiting.since),
        "expires_at": None if waiting.expires_at is None else iso(waiting.expires_at),
    }
