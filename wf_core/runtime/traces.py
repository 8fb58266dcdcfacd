"""Trace entries: made at once as bytes, so that what is noted can neither change later nor keep the state alive."""

from datetime import datetime
from typing import Any

import orjson

from wf_core.jsonvalue import JsonValue, dumps, shorten
from wf_core.state import Frame, RunError, RunState, Settled
from wf_core.times import iso

MAX_VALUE_BYTES = 4096
"""A longer value is shortened and marked: `{"$truncated": true, "bytes": n, "preview": "…"}`."""

_NO_CHANGES: dict[str, JsonValue] = {}


def note(
    run: RunState,
    frame: Frame,
    *,
    now: datetime,
    outcome: str | None = None,
    next_step_id: str | None = None,
    input: JsonValue = None,
    output: JsonValue = None,
    state_changes: Any = _NO_CHANGES,
    error: RunError | None = None,
    answer: dict[str, JsonValue] | None = None,
    settled: Settled | None = None,
) -> None:
    """Add an entry about the step at which a frame stands."""
    started = frame.started_at or now
    entry: dict[str, Any] = {
        "index": run.trace_count,
        "step_id": frame.step_id,
        "path": [*frame.prefix, frame.step_id],
        "step_type": frame.program.plan.steps[frame.step_id].type,
        "outcome": outcome,
        "next_step_id": next_step_id,
        "input": input,
        "output": output,
        "state_changes": state_changes,
        "attempt": frame.attempt,
        "started_at": iso(started),
        "duration_ms": round((now - started).total_seconds() * 1000, 3),
        "error": None if error is None else error.to_json(),
    }
    if answer is not None:
        entry["answer"] = answer
    if settled is not None:
        entry["settled"] = {"by": settled.by, "kind": settled.kind, "at": iso(settled.at)}
    if labels := getattr(frame.program.steps[frame.step_id], "labels", None):
        entry["labels"] = labels
    run.fresh_trace.append(_encode(entry))
    run.trace_count += 1


def _encode(entry: dict[str, Any]) -> bytes:
    try:
        encoded = orjson.dumps(entry)
    except TypeError:
        # An integer beyond 64 bits; everything noted is known to be JSON.
        encoded = dumps(entry)
    if len(encoded) <= MAX_VALUE_BYTES:
        return encoded
    for name in ("input", "output", "state_changes", "error"):
        entry[name] = shorten(entry[name], MAX_VALUE_BYTES)
    return dumps(entry)
