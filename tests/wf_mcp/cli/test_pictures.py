"""Runs as people want to see them."""

from typing import Any

from rich.console import Console

from wf_mcp.cli import pictures
from wf_mcp.operations.models import RunSummary, TraceEntry, TracePage

RUN: dict[str, Any] = {
    "run_id": "run_1",
    "status": "failed",
    "resume_readiness": "not_applicable",
    "deployment_id": "d",
    "artifact_id": "a",
    "artifact_version": 1,
    "error": {
        "code": "capability_error",
        "message": "It broke.",
        "step_id": "two",
        "path": ["two"],
        "attempt": 1,
        "side_effects": "unknown",
        "details": {},
    },
}

ENTRY: dict[str, Any] = {
    "index": 0,
    "step_id": "one",
    "path": ["one"],
    "step_type": "node",
    "outcome": "ok",
    "next_step_id": "two",
    "state_changes": {"state.x": 1},
    "duration_ms": 1500.0,
}


def shown(picture: object) -> str:
    console = Console(width=100, color_system=None)
    with console.capture() as captured:
        console.print(picture)
    return captured.get()


def test_a_failed_run_says_where_why_and_what_is_known_of_its_effects() -> None:
    text = shown(pictures.summary(RunSummary.model_validate(RUN)))

    assert "failed in two: It broke. (capability_error; what it changed is unknown)" in text


def test_a_trace_names_what_was_written_and_how_long_it_took() -> None:
    page = TracePage(
        run_id="run_1",
        status="failed",
        trace_count=9,
        start=0,
        limit=1,
        truncated=True,
        next_start=1,
        entries=[TraceEntry.model_validate(ENTRY)],
    )

    text = shown(pictures.trace(page))

    assert "ok → two" in text
    assert "1.5 s" in text
    assert "more: --start 1 (9 entries in all)" in text


def test_a_step_is_told_on_one_line() -> None:
    question = ENTRY | {"outcome": None, "next_step_id": None}
    settled = ENTRY | {"settled": {"by": "person", "kind": "retry", "at": "2026-11-30T10:00:00.000Z"}}

    assert pictures.step(TraceEntry.model_validate(ENTRY)).plain.split() == ["✓", "one", "ok", "→", "two", "1.5", "s"]
    assert pictures.step(TraceEntry.model_validate(question)).plain.split() == ["?", "one", "asks"]
    assert "ok (a person: retry) → two" in pictures.step(TraceEntry.model_validate(settled)).plain
