"""Records to store, each as small as it can be."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from wf_artifacts.catalog.models import Artifact, Deployment
from wf_artifacts.runs.environment import PinnedCapability, PinnedEnvironment
from wf_artifacts.runs.models import Checkpoint, JournalRecord, RunRecord
from wf_artifacts.runs.store import Claim, RunStore
from wf_artifacts.storage.digests import json_digest
from wf_core.calls.contract import Contract, Hints
from wf_core.ids import ArtifactId, DeploymentId, RunId, run_id

NOW = datetime(2026, 11, 30, 10, 0, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)

Start = Callable[[RunRecord], Awaitable[Claim]]
"""Creates a run; the claim that comes with it ends with the test."""


def plan(name: str = "notes", *children: tuple[str, int]) -> dict[str, Any]:
    """A plan with a step for each child."""
    steps = {
        f"child_{index}": {"type": "subgraph", "workflow": {"artifact_id": artifact_id, "version": version}}
        for index, (artifact_id, version) in enumerate(children)
    }
    return {"name": name, "start": "done", "steps": {**steps, "done": {"type": "end"}}}


def artifact(artifact_id: str = "notes", version: int = 1) -> Artifact:
    return Artifact(
        artifact_id=ArtifactId(artifact_id),
        version=version,
        digest=json_digest(plan()),
        plan=plan(),
        description="Publishes notes.",
        required_capabilities=("files.read",),
        created_at=NOW,
    )


def deployment(deployment_id: str = "publish", artifact_id: str = "notes", version: int = 1) -> Deployment:
    return Deployment(
        deployment_id=DeploymentId(deployment_id),
        artifact_id=ArtifactId(artifact_id),
        artifact_version=version,
        bindings={"files": "disk"},
        call_policy=None,
        created_at=NOW,
        updated_at=NOW,
    )


def environment() -> PinnedEnvironment:
    contract = Contract(input_schema={"type": "object"}, outcomes=("ok", "error"), hints=Hints(read_only=True))
    capability = PinnedCapability(source="disk", name="read", contract=contract, digest="sha256:00")
    return PinnedEnvironment(artifact=artifact(), deployment=deployment(), capabilities={"files.read": capability})


def new_run_id(number: int = 0, at: datetime = NOW) -> RunId:
    return run_id(at, number)


def record(run_id: RunId | None = None, **fields: Any) -> RunRecord:
    """A run that has just begun."""
    known: dict[str, Any] = {
        "run_id": run_id or new_run_id(),
        "principal": "local",
        "deployment_id": "publish",
        "artifact_id": "notes",
        "artifact_version": 1,
        "status": "running",
        "checkpoint": 1,
        "input_digest": json_digest({}),
        "created_at": NOW,
        "updated_at": NOW,
    }
    return RunRecord.model_validate(known | fields)


def checkpoint(record: RunRecord, state: bytes = b'{"at":"start"}') -> Checkpoint:
    """The checkpoint that a record names."""
    return Checkpoint(record.run_id, record.checkpoint, "started", state, NOW)


def following(earlier: RunRecord, *, entries: int = 1, **fields: Any) -> RunRecord:
    """The record of the next commit, which has a checkpoint of its own."""
    counted = {"checkpoint": earlier.checkpoint + 1, "trace_count": earlier.trace_count + entries}
    return earlier.model_copy(update=counted | fields)


def trace(earlier: RunRecord, entries: int = 1) -> list[bytes]:
    """Entries that follow those that a record counts."""
    numbers = range(earlier.trace_count, earlier.trace_count + entries)
    return [b'{"index":%d,"step_id":"read"}' % number for number in numbers]


def inputs(earlier: RunRecord, count: int = 1, *, entries: int = 1, since: int = 0) -> list[JournalRecord]:
    """Inputs that follow a record: each makes a step and so many trace entries. `since` were given before."""
    return [
        JournalRecord(
            line=b'{"kind":"complete","number":%d}' % number,
            trace=tuple(
                b'{"index":%d,"step_id":"read"}' % (earlier.trace_count + index)
                for index in range(number * entries, (number + 1) * entries)
            ),
            steps_executed=earlier.steps_executed + number + 1,
            position=number + 1,
        )
        for number in range(since, since + count)
    ]


async def start_and_release(runs: RunStore, *begun: RunRecord) -> None:
    """Create runs that nobody advances."""
    for one in begun:
        made = await runs.create(one, environment(), checkpoint(one))
        assert made.claim is not None
        await made.claim.release()
