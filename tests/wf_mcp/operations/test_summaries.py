"""How a stored run is told."""

from datetime import UTC, datetime
from typing import Any

import anyio
import pytest

from tests.wf_mcp.loops import ask_or
from tests.wf_mcp.scripted import (
    Gate,
    ScriptedSource,
    ask,
    deployment,
    echo,
    environment,
    failing,
    node,
    opened,
    plan,
    save,
    start,
)
from wf_artifacts.runs.models import RunRecord
from wf_artifacts.stores import Stores
from wf_core.calls.contract import Contract
from wf_core.ids import ArtifactId, DeploymentId, RunId
from wf_core.runtime import Answer
from wf_core.validation import Issue
from wf_mcp.app import App
from wf_mcp.execution.pins import Readiness
from wf_mcp.operations import summaries
from wf_mcp.operations.deployments import create_deployment
from wf_mcp.operations.models import RunSummary
from wf_mcp.operations.runs import inspect_run, run_deployment

pytestmark = pytest.mark.anyio

THEN = datetime(2026, 11, 30, 10, tzinfo=UTC)
QUESTION: dict[str, Any] = {
    "id": "int_1",
    "kind": "approval",
    "step_id": "review",
    "path": ["review"],
    "payload": {"text": "hello"},
    "outcomes": ["approved", "rejected"],
    "request_schema": {},
    "resume_schema": {"type": "object"},
    "outcome_schemas": {},
    "typed": True,
    "answered_by": "anyone",
    "opened_at": "2026-11-30T10:00:00.000Z",
}
READY, BLOCKED = Readiness((), {}), Readiness((Issue("error", "source_disabled", "", "off"),), {})


def record(**more: Any) -> RunRecord:
    told: dict[str, Any] = {
        "run_id": RunId("run_1"),
        "principal": "local",
        "deployment_id": DeploymentId("publish"),
        "artifact_id": ArtifactId("publish_note"),
        "artifact_version": 1,
        "status": "completed",
        "checkpoint": 1,
        "input_digest": "sha256:0",
        "created_at": THEN,
        "updated_at": THEN,
    }
    return RunRecord(**told | more)


async def test_a_finished_run_is_told_with_its_outcome_and_asks_nothing() -> None:
    async with opened() as app:
        told = await summaries.summarize(
            app, record(outcome="ok", output={"n": 1}, trace_count=3, steps_executed=2, checkpoint=12)
        )
    assert told == RunSummary(
        run_id="run_1",
        status="completed",
        resume_readiness="not_applicable",
        deployment_id="publish",
        artifact_id="publish_note",
        artifact_version=1,
        outcome="ok",
        output={"n": 1},
        trace_count=3,
        steps_executed=2,
        latest_checkpoint_id="run_1/000012",
        created_at="2026-11-30T10:00:00.000Z",
        updated_at="2026-11-30T10:00:00.000Z",
    )


async def test_a_failed_run_tells_its_error_and_where_to_look() -> None:
    error: dict[str, Any] = {"code": "timeout", "message": "too late", "step_id": "go", "path": ["go"], "attempt": 1,
             "side_effects": "unknown", "details": {}}  # fmt: skip
    async with opened() as app:
        told = await summaries.summarize(app, record(status="failed", error=error))
    assert told.error is not None
    assert told.error.model_dump() == error
    assert told.next_actions == ['read_run_trace(run_id="run_1", start=-5)']


def test_who_may_answer_and_how_is_said_of_each_question() -> None:
    question = summaries.question(QUESTION)
    assert summaries.answer_action("run_1", question) == (
        'resume_run(run_id="run_1", interrupt_id="int_1", resume_outcome="approved" or "rejected", '
        "resume_payload=<what resume_schema asks for>)"
    )
    person = summaries.question(QUESTION | {"answered_by": "person"})
    assert summaries.answer_action("run_1", person) == (
        "a person answers: wf runs resume run_1 --interrupt int_1 --outcome approved|rejected"
    )


@pytest.mark.parametrize("who", ["anyone", "person"])
def test_of_many_outcomes_the_first_are_named_in_what_to_do(who: str) -> None:
    outcomes = [f"outcome_{number}" for number in range(1000)]
    told = summaries.answer_action("run_1", summaries.question(QUESTION | {"outcomes": outcomes, "answered_by": who}))
    assert "outcome_9" in told
    assert "outcome_10" not in told
    assert "<one of 1000 outcomes>" in told


@pytest.mark.parametrize(
    ("status", "readiness", "told"),
    [
        ("interrupted", READY, "ready"),
        ("interrupted", BLOCKED, "blocked"),
        ("running", None, "not_applicable"),
        ("cancelled", None, "not_applicable"),
    ],
)
def test_readiness_is_of_interrupted_runs_alone(status: str, readiness: Readiness | None, told: str) -> None:
    assert summaries.resume_readiness(record(status=status), readiness) == told


def test_a_row_names_its_questions_and_not_their_payloads() -> None:
    row = summaries.row(record(status="interrupted", interrupts=(QUESTION,)), READY)
    assert [question.model_dump() for question in row.interrupts] == [
        {"id": "int_1", "kind": "approval", "step_id": "review"}
    ]
    assert row.resume_readiness == "ready"


def test_a_deployment_that_cannot_run_has_no_run_and_says_why() -> None:
    told = summaries.unrunnable(
        deployment(), [Issue("error", "source_disabled", "", "The source is off.", "Turn it on.")]
    )
    assert (told.run_id, told.status, told.created_at) == (None, "unrunnable", None)
    assert [(one.code, one.hint, one.path) for one in told.diagnostics] == [("source_disabled", "Turn it on.", None)]
    assert told.next_actions == ['inspect_deployment(deployment_id="flow") once the diagnostics are resolved']


async def paused(app: App) -> RunRecord:
    """A run that waits for an answer and needs `ops.echo` afterwards."""
    pinned = await environment(app, plan({"ask": ask("do"), "do": node("ops.echo")}))
    handle = await app.runs.start(pinned, {}, principal="local", idempotency_key=None)
    with anyio.fail_after(5):
        await app.runs.wait(handle, seconds=5)
    return await app.stores.runs.load(handle.run_id)


async def test_readiness_follows_the_sources_in_both_directions() -> None:
    source = ScriptedSource()
    async with opened(source) as app:
        run = await paused(app)
        assert (await summaries.summarize(app, run)).resume_readiness == "ready"
        source.contracts = {"echo": Contract(input_schema={"type": "object", "required": ["more"]})}
        blocked = await summaries.summarize(app, run)
        source.contracts = {}
        again = await summaries.summarize(app, run)
    assert blocked.resume_readiness == "blocked"
    assert [one.code for one in blocked.diagnostics] == ["contract_changed"]
    assert blocked.next_actions == [
        f'validate_run(run_id="{run.run_id}") once the diagnostics are resolved',
        f'cancel_run(run_id="{run.run_id}")',
    ]
    assert [question.id for question in blocked.interrupts] == ["int_1"]
    assert (again.resume_readiness, again.diagnostics) == ("ready", [])


async def test_an_inspection_does_not_wait_for_ever_for_a_source() -> None:
    class Slow(ScriptedSource):
        async def capabilities(self) -> Any:
            if self.state == "idle":
                await anyio.sleep_forever()
            return await super().capabilities()

    source = Slow()
    async with opened(source) as app:
        run = await paused(app)
        source.state = "idle"
        with anyio.fail_after(5):
            told = await summaries.summarize(app, run, patience=0.01)
    assert told.resume_readiness == "ready"
    assert [(one.severity, one.code) for one in told.diagnostics] == [("warning", "source_not_checked")]


async def test_a_run_that_stops_while_it_is_told_is_not_called_abandoned() -> None:
    """It was read as running; by the time its claim is looked at it has stopped and is free."""
    async with opened(ScriptedSource()) as app:
        run = await paused(app)
        told = await summaries.summarize(app, run.model_copy(update={"status": "running"}))
    assert (told.status, told.diagnostics) == ("interrupted", [])


async def test_a_question_of_a_run_under_way_can_be_answered_where_the_run_is_advanced() -> None:
    """A process that does not advance it would be told that the run is busy."""
    gate = Gate()
    async with opened(ScriptedSource(acts={"do": gate})) as app:
        handle = await start(app, ask_or("ops.do"), {"items": ["ask", "do", "ask"]})
        with anyio.fail_after(5):
            await gate.entered.wait()
            await app.runs.answer(handle.run_id, Answer({}, interrupt_id="int_1"))
        here = await summaries.summarize(app, await app.stores.runs.load(handle.run_id))
        async with opened(ScriptedSource(acts={"do": gate}), stores=app.stores) as other:
            there = await summaries.summarize(other, await app.stores.runs.load(handle.run_id))
    wait = f'inspect_run(run_id="{handle.run_id}", wait_seconds=25)'
    assert [question.id for question in here.interrupts] == [question.id for question in there.interrupts] == ["int_2"]
    assert [action.partition(", resume_outcome")[0] for action in here.next_actions] == [
        wait,
        f'resume_run(run_id="{handle.run_id}", interrupt_id="int_2"',
    ]
    assert there.next_actions == [wait]


DEFER: dict[str, Any] = {"tag": "defer", "reason": "outside", "expiresSeconds": 60}


@pytest.mark.parametrize(
    ("steps", "deferred", "status"),
    [
        ({"look": node("wf.std.constant", input={"value": {"value": [1, 2.5, None]}})}, False, "completed"),
        ({"do": node("ops.do")}, False, "failed"),
        ({"do": node("ops.echo")}, True, "interrupted"),
        ({"ask": ask(outcomes=["a", "b"], routes={"a": "__end__", "b": "__end__"})}, False, "interrupted"),
    ],
)
async def test_whoever_waited_for_a_run_is_told_what_is_stored(
    stores: Stores, steps: dict[str, Any], deferred: bool, status: str
) -> None:
    source = ScriptedSource(acts={"do": failing(), "echo": echo})
    policy = {"rules": [{"tool": "ops.echo", "disposition": DEFER}]} if deferred else None
    async with opened(source, stores=stores) as app:
        await save(app, "flow", plan(steps))
        await create_deployment(app, deployment_id="flow", artifact_id="flow", call_policy=policy)
        told = await run_deployment(app, deployment_id="flow")
        assert told.status == status
        assert len(told.pending_calls) == deferred
        assert told.run_id is not None
        assert await inspect_run(app, run_id=told.run_id) == told
    async with opened(source, stores=stores) as app:
        assert await inspect_run(app, run_id=told.run_id) == told
