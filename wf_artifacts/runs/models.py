"""What is kept of a run beside its definitions: the record that lists show, and the state to go on from."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import Field

from wf_artifacts.storage.documents import Format
from wf_artifacts.storage.records import Array, Record, Time
from wf_core.frozen import frozen
from wf_core.ids import ArtifactId, DeploymentId, RunId
from wf_core.state import RunStatus


class RunRecord(Record):
    """A run as far as it can be shown without its state, its trace and its definitions."""

    run_id: RunId
    principal: str
    """Whose run it is. To anybody else it does not exist."""
    deployment_id: DeploymentId
    artifact_id: ArtifactId
    artifact_version: int = Field(ge=1)
    status: RunStatus
    outcome: str | None = None
    output: Any = None
    error: dict[str, Any] | None = None
    interrupts: Array[dict[str, Any]] = ()
    """Every open question, the oldest first."""
    pending_calls: Array[dict[str, Any]] = ()
    """Every call that waits for a word from outside, the oldest first. One without `awaits` is in doubt."""
    trace_count: int = Field(default=0, ge=0)
    steps_executed: int = Field(default=0, ge=0)
    checkpoint: int = Field(ge=1)
    """Sequence of the latest checkpoint, counted from 1."""
    idempotency_key: str | None = None
    """Unique per principal and deployment."""
    input_digest: str
    """`wf_artifacts.storage.digests.json_digest` of the workflow input."""
    created_at: Time
    updated_at: Time


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A stored RunState."""

    run_id: RunId
    sequence: int
    """Counts the checkpoints of a run from 1, without a gap."""
    reason: str
    """Why it was made, for people: started, interrupted, completed …"""
    state: bytes
    """What `wf_core.codec.dump_run` made; the store does not look into it."""
    created_at: datetime


@frozen
class JournalRecord:
    """One input that a run was given since its latest checkpoint, and what it made of it."""

    line: bytes
    """The input as one compact JSON object, as `wf_core.codec.inputs` writes it; the store does not look into it."""
    trace: tuple[bytes, ...]
    """The trace entries that it made, one compact JSON object each."""
    steps_executed: int
    """Of the run, this input included."""
    position: int
    """How many inputs the run was given, this one included."""


RECORD = Format("wf.run_record", 2, RunRecord, plain=1)
