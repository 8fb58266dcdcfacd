"""A run as the body of a document, which `reading` reads.

What a frame holds of its program, the counts of who is awake and a lineage's values are derived when the state is
linked, and so are not written. Times keep their microseconds: a run that was loaded goes on as one that was not.
"""

from datetime import UTC, datetime
from typing import Any

from wf_core.jsonvalue import JsonValue
from wf_core.state import (
    Asking,
    Call,
    Calling,
    ChildEnd,
    Delayed,
    Frame,
    InChild,
    Interrupt,
    Looping,
    Pending,
    RunError,
    RunState,
    Settled,
    Write,
)

Json = dict[str, Any]


def write_run(run: RunState) -> Json:
    """Give the body of a run. Runs that are equal give equal ones."""
    return {
        "run_id": run.run_id,
        "status": run.status,
        "outcome": run.outcome,
        "output": run.output,
        "error": _error(run.error),
        "position": run.position,
        "steps_executed": run.steps_executed,
        "trace_count": run.trace_count,
        "counters": {
            "frame": run.counters.frame,
            "scope": run.counters.scope,
            "call": run.counters.call,
            "interrupt": run.counters.interrupt,
        },
        "scopes": [
            {"id": scope.id, "program": list(scope.program), "input": scope.input, "state": scope.layer.values}
            for scope in run.scopes.values()
        ],
        "lineages": [
            {
                "frame": lineage.frame,
                "scope": lineage.scope,
                "parent": lineage.parent,
                "writes": _writes(lineage.layer.log or []),
            }
            for lineage in run.lineages.values()
        ],
        "frames": [_frame(frame) for frame in run.frames.values()],
        "ready": [number for number in run.ready if number in run.frames],
        "calls": [_call(call) for call in run.calls.values()],
        "interrupts": [_interrupt(interrupt) for interrupt in run.interrupts.values()],
    }


def _frame(frame: Frame) -> Json:
    return {
        "id": frame.id,
        "role": frame.role,
        "scope": frame.scope,
        "parent": frame.parent,
        "index": frame.index,
        "lineage": frame.lineage,
        "step_id": frame.step_id,
        "attempt": frame.attempt,
        "started_at": None if frame.started_at is None else _time(frame.started_at),
        "activity": _activity(frame),
    }


def _activity(frame: Frame) -> Json | None:
    match frame.activity:
        case None:
            return None
        case Calling(call=call):
            return {"kind": "calling", "call": call}
        case Delayed(due_at=due_at, call=call):
            return {"kind": "delayed", "due_at": _time(due_at), "call": _call(call)}
        case Pending() as pending:
            return {
                "kind": "pending",
                "call": _call(pending.call),
                "awaits": pending.awaits,
                "reason": pending.reason,
                "since": _time(pending.since),
                "expires_at": None if pending.expires_at is None else _time(pending.expires_at),
            }
        case Asking(interrupt=interrupt):
            return {"kind": "asking", "interrupt": interrupt}
        case InChild(frame=child, ended=ended):
            return {"kind": "in_child", "frame": child, "ended": _child_end(ended)}
        case Looping() as loop:
            return {
                "kind": "looping",
                "items": loop.items,
                "next_index": loop.next_index,
                "active": [[index, number] for index, number in loop.active.items()],
                "writes": [[index, _writes(log)] for index, log in sorted(loop.writes.items())],
                "failures": [[index, _error(error)] for index, error in sorted(loop.failures.items())],
                "broken": loop.broken,
                "parked": [[index, numbers] for index, numbers in loop.parked.items()],
            }


def _child_end(ended: ChildEnd | None) -> Json | None:
    if ended is None:
        return None
    return {"outcome": ended.outcome, "output": ended.output, "error": _error(ended.error)}


def _call(call: Call) -> Json:
    return {
        "id": call.id,
        "frame": call.frame,
        "capability": call.capability,
        "input": call.input,
        "attempt": call.attempt,
        "started_at": _time(call.started_at),
        "side_effects": call.side_effects,
        "settled": _settled(call.settled),
    }


def _settled(settled: Settled | None) -> Json | None:
    return None if settled is None else {"kind": settled.kind, "at": _time(settled.at), "by": settled.by}


def _interrupt(interrupt: Interrupt) -> Json:
    return {
        "id": interrupt.id,
        "frame": interrupt.frame,
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
        "opened_at": _time(interrupt.opened_at),
    }


def _error(error: RunError | None) -> Json | None:
    return None if error is None else error.to_json()


def _writes(log: list[Write]) -> list[JsonValue]:
    return [[list(path), reducer, value] for path, reducer, value in log]


def _time(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat()
