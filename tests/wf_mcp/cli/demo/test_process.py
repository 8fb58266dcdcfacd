"""The process that runs the workflow of the demo, seen from outside."""

import signal
from pathlib import Path

import anyio
import pytest

from tests.wf_mcp.cli.demo.stage import set_up
from wf_mcp.cli.demo.process import Worker, WorkerDied
from wf_mcp.operations.models import TraceEntry


def test_a_worker_tells_its_steps_waits_at_the_question_and_dies_of_sigkill(tmp_path: Path) -> None:
    place = anyio.run(set_up, tmp_path)
    told: list[TraceEntry] = []

    with Worker(place, "start", "ask", {}) as first:
        run = first.hear(told.append)
        status = first.kill()
    with Worker(place, "resume", str(run.run_id), {"resume_payload": {}}) as second:
        ended = second.hear(told.append)

    assert run.status == "interrupted"
    assert status == -signal.SIGKILL
    assert second.pid != first.pid
    assert ended.status == "completed"
    assert [(entry.index, entry.step_id) for entry in told] == [(0, "note"), (1, "ask"), (2, "ask")]


def test_a_worker_that_cannot_work_is_said_to_have_died(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    place = anyio.run(set_up, tmp_path)

    with Worker(place, "start", "nothing", {}) as worker, pytest.raises(WorkerDied):
        worker.hear(lambda _: None)

    assert "DeploymentNotFound" in capfd.readouterr().err
