"""What is stored beside the state of a checkpoint, so that another state in its place is noticed."""

from pydantic import Field

from wf_artifacts.runs.models import Checkpoint
from wf_artifacts.storage.digests import bytes_digest
from wf_artifacts.storage.documents import corrupt, naming
from wf_artifacts.storage.records import Record, Time
from wf_core.codec import load_run
from wf_core.ids import RunId


class NamedCheckpoint(Record):
    """The latest checkpoint, but for its state."""

    sequence: int = Field(ge=1)
    reason: str
    digest: str
    """`bytes_digest` of the state."""
    created_at: Time


def named(checkpoint: Checkpoint) -> NamedCheckpoint:
    """Describe a checkpoint without its state."""
    return NamedCheckpoint(
        sequence=checkpoint.sequence,
        reason=checkpoint.reason,
        digest=bytes_digest(checkpoint.state),
        created_at=checkpoint.created_at,
    )


def whole(run_id: RunId, checkpoint: NamedCheckpoint, state: bytes, document: str) -> Checkpoint:
    """Put a checkpoint and its state together again; `document` names where the state was found.

    Raises:
        StateCorrupt, FormatTooNew: it is not the state that was stored.
    """
    if bytes_digest(state) != checkpoint.digest:
        with naming(document):
            load_run(state)
        raise corrupt(document, "it is not the state that was stored")
    return Checkpoint(run_id, checkpoint.sequence, checkpoint.reason, state, checkpoint.created_at)
