"""What a run did, as much at a time as can be shown at once."""

from wf_core.ids import RunId
from wf_core.jsonvalue import size
from wf_mcp.app import App
from wf_mcp.operations.caller import LOCAL_MODEL, Caller
from wf_mcp.operations.checks import check_limit
from wf_mcp.operations.models import TraceEntry, TracePage

PAGE_BYTES = 30_000
"""Compact JSON of the entries on one page of a trace: about 10,000 tokens."""


async def read_run_trace(
    app: App, *, run_id: str, start: int = 0, limit: int = 20, caller: Caller = LOCAL_MODEL
) -> TracePage:
    """Read up to `limit` trace entries from `start`, which counts from 0, or from the end when negative.

    A page ends early where its entries are long together; it holds at least one entry if there are any from `start` on.
    """
    check_limit(limit)
    record = await app.stores.runs.load(RunId(run_id), principal=caller.principal)
    first = start if start >= 0 else max(0, record.trace_count + start)
    stored = await app.stores.runs.read_trace(record.run_id, first, limit)
    entries = _within_page([TraceEntry.model_validate(entry) for entry in stored])
    following = first + len(entries)
    return TracePage(
        run_id=record.run_id,
        status=record.status,
        trace_count=record.trace_count,
        start=first,
        limit=limit,
        truncated=following < record.trace_count,
        next_start=following if following < record.trace_count else None,
        entries=entries,
    )


def _within_page(entries: list[TraceEntry]) -> list[TraceEntry]:
    """Take as many entries as a model can be shown at once."""
    room = PAGE_BYTES
    for number, entry in enumerate(entries):
        room -= size(entry.model_dump(mode="json")) + 1
        if room < 0 and number > 0:
            return entries[:number]
    return entries
