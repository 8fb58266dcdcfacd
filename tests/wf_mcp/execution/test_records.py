"""How a run's state is told in its record."""

from datetime import UTC, datetime, timedelta

from tests.wf_mcp.scripted import ask, node, plan
from wf_artifacts.runs.models import RunRecord
from wf_core.calls.contract import Contract
from wf_core.ids import ArtifactId, DeploymentId, RunId
from wf_core.runtime import compile_program, next_work, start
from wf_core.state import RunState
from wf_mcp.execution.records import describe

NOW = datetime(2026, 11, 30, 10, tzinfo=UTC)
LATER = NOW + timedelta(seconds=5)
BLANK = RunRecord(
    run_id=RunId("run_1"),
    principal="ann",
    deployment_id=DeploymentId("d"),
    artifact_id=ArtifactId("a"),
    artifact_version=3,
    status="running",
    checkpoint=1,
    idempotency_key="k",
    input_digest="sha256:0",
    created_at=NOW,
    updated_at=NOW,
)


def run_of(steps: dict[str, object]) -> RunState:
    program = compile_program(plan(steps), contracts={"ops.echo": Contract(input_schema={"required": ["x"]})})
    run = start(program, run_id="run_1", input={})
    next_work(program, run, now=NOW)
    return run


def test_open_questions_are_told_whole() -> None:
    question = ask(answered_by="person", request={"why": {"value": "so"}}, resume_schema={"type": "object"})
    record = describe(run_of({"ask": question}), BLANK, checkpoint=2, now=LATER)
    assert (record.status, record.checkpoint, record.updated_at) == ("interrupted", 2, LATER)
    [told] = record.interrupts
    assert told == {
        "id": "int_1",
        "kind": "question",
        "step_id": "ask",
        "path": ["ask"],
        "payload": {"why": "so"},
        "outcomes": ["submitted"],
        "request_schema": {},
        "resume_schema": {"type": "object"},
        "outcome_schemas": {},
        "typed": True,
        "answered_by": "person",
        "opened_at": "2026-11-30T10:00:00.000Z",
    }


def test_a_failure_is_told_with_its_place_and_effects() -> None:
    record = describe(run_of({"go": node("ops.echo")}), BLANK, checkpoint=2, now=LATER)
    assert record.status == "failed"
    assert record.error is not None
    assert (record.error["code"], record.error["step_id"]) == ("input_invalid", "go")
    assert record.error["side_effects"] == "none"


def test_whose_run_it_is_and_when_it_began_stay() -> None:
    record = describe(run_of({"ask": ask()}), BLANK, checkpoint=2, now=LATER)
    kept = ("run_id", "principal", "deployment_id", "artifact_id", "artifact_version", "idempotency_key", "created_at")
    assert {name: getattr(record, name) for name in kept} == {name: getattr(BLANK, name) for name in kept}
